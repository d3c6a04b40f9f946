import { all, isFalse, isNone, isTrue, isZero, rule } from './rule.ts';
import { CACHE_NOTE, EFFORT_NOTE } from './notes.ts';
import type { FieldTable } from './rule.ts';

const RESPONSES_ONLY = 'only providers with the format responses support it';

/** Fields of a responses request. All others are rejected. */
export const RESPONSES_FIELDS: FieldTable = {
  model: all('carried'),
  models: all('gateway', { note: 'further models, tried in order' }),
  input: all('carried'),
  'input[].content[]: input_file with a PDF as file_data': all('carried'),
  instructions: all('carried'),
  stream: all('carried'),
  stream_options: all('gateway'),
  max_output_tokens: all('carried'),
  tools: all('carried', { note: 'custom and namespace tools are emulated' }),
  tool_choice: all('carried'),
  parallel_tool_calls: rule(['carried', 'carried', 'carried', 'ignored', 'ignored'], {
    isNeutral: isTrue,
    note: 'generateContent and Converse have none',
  }),
  text: rule(['carried', 'carried', 'carried', 'carried', 'carried', 'ignored'], { note: '`format`' }),
  'text.verbosity': rule(['carried', 'carried', 'ignored', 'ignored', 'ignored']),
  reasoning: rule(['carried', 'carried', 'carried', 'carried', 'carried', 'gateway'], { note: '`effort`' }),
  'reasoning.effort': rule(['carried', 'carried', 'carried', 'carried', 'carried', 'gateway'], {
    needs: 'effort',
    isNeutral: isNone,
    note: EFFORT_NOTE,
  }),
  'reasoning.summary': rule(['emulated', 'carried', 'emulated', 'emulated', 'emulated'], {
    note: 'the reasoning itself',
  }),
  temperature: all('carried', { note: 'at most 1 for messages and Converse providers' }),
  top_p: all('carried', { note: 'messages providers get it without `temperature` only' }),
  prompt_cache_key: rule(['carried', 'carried', 'emulated', 'gateway', 'emulated', 'gateway'], {
    needs: 'cache',
    note: CACHE_NOTE,
  }),
  cache_ttl: rule(['ignored', 'ignored', 'carried', 'ignored', 'carried', 'ignored'], {
    needs: 'cache',
    note: 'Converse: Claude from 3.7 on',
  }),
  user: rule(['carried', 'carried', 'emulated', 'ignored', 'ignored', 'ignored'], {
    note: '`metadata.user_id` in messages',
  }),
  safety_identifier: rule(['carried', 'carried', 'emulated', 'ignored', 'ignored', 'ignored'], {
    note: '`metadata.user_id` in messages',
  }),
  metadata: all('gateway', { note: 'repeated in the response' }),
  include: all('gateway', { note: 'signatures of reasoning always come' }),
  'include: message.output_text.logprobs': rule(['refused', 'carried', 'refused', 'refused', 'refused'], {
    forwarded: true,
    help: RESPONSES_ONLY,
  }),
  top_logprobs: rule(['refused', 'carried', 'refused', 'refused', 'refused'], {
    forwarded: true,
    help: RESPONSES_ONLY,
    isNeutral: isZero,
  }),
  store: all('gateway', { note: 'only `false`' }),
  client_metadata: all('ignored'),
  service_tier: all('ignored'),
  truncation: all('ignored', { isNeutral: (value) => value === 'disabled' }),
  previous_response_id: all('refused', { help: 'nothing is stored here; send the conversation whole' }),
  conversation: all('refused', { help: 'nothing is stored here; send the conversation whole' }),
  background: all('refused', { help: 'requests are answered at once', isNeutral: isFalse }),
  prompt: all('refused', { help: 'no prompts are stored here' }),
  presence_penalty: all('refused', { help: 'is not supported', isNeutral: isZero }),
  frequency_penalty: all('refused', { help: 'is not supported', isNeutral: isZero }),
  max_tool_calls: all('refused', { help: 'no tools run here' }),
  context_management: all('refused', { help: 'is not supported' }),
  moderation: all('refused', { help: 'is not supported' }),
  prompt_cache_retention: all('refused', { help: 'is not supported; cache_ttl is' }),
};
