import { all, isFalse, isNone, isTrue, isZero, rule } from './rule.ts';
import { CACHE_NOTE, EFFORT_NOTE } from './notes.ts';
import type { FieldTable } from './rule.ts';

const CHAT_ONLY = 'only providers with the format chat-completions support it';
const forwarded = { forwarded: true, help: CHAT_ONLY } as const;
const verbatim = { verbatim: true } as const;
const isTextAlone = (value: unknown): boolean => Array.isArray(value) && value.every((each) => each === 'text');

/** Fields of a chat completions request. Others are carried to upstreams of the same format and ignored elsewhere. */
export const CHAT_FIELDS: FieldTable = {
  model: all('carried'),
  models: all('gateway', { note: 'further models, tried in order' }),
  messages: all('carried'),
  'messages[].name': all('ignored', { note: 'carried with `passThrough`' }),
  'messages[].audio': rule(['carried', 'refused', 'refused', 'refused', 'refused'], forwarded),
  'messages[].content[]: file with file_id, input_audio': rule(
    ['carried', 'refused', 'refused', 'refused', 'refused', 'refused'],
    forwarded,
  ),
  stream: all('carried'),
  stream_options: all('gateway', { note: '`include_usage`' }),
  tools: all('carried'),
  'messages[].content[]: file with a PDF as file_data': all('carried'),
  'tools[]: custom': rule(['carried', 'refused', 'refused', 'refused', 'refused'], forwarded),
  tool_choice: all('carried'),
  parallel_tool_calls: rule(['carried', 'carried', 'carried', 'ignored', 'ignored'], {
    isNeutral: isTrue,
    note: 'generateContent and Converse have none',
  }),
  max_tokens: all('carried'),
  max_completion_tokens: all('carried'),
  temperature: all('carried', { note: 'at most 1 for messages and Converse providers' }),
  top_p: all('carried', { note: 'messages providers get it without `temperature` only' }),
  stop: rule(['carried', 'emulated', 'carried', 'carried', 'carried', 'ignored'], {
    note: 'responses providers have none: the reply is cut',
  }),
  response_format: rule(['carried', 'carried', 'carried', 'carried', 'carried', 'ignored']),
  reasoning_effort: rule(['carried', 'carried', 'carried', 'carried', 'carried', 'ignored'], {
    needs: 'effort',
    isNeutral: isNone,
    note: EFFORT_NOTE,
  }),
  reasoning: rule(['carried', 'carried', 'carried', 'carried', 'carried', 'ignored'], { note: '`effort`' }),
  'reasoning.effort': rule(['carried', 'carried', 'carried', 'carried', 'carried', 'ignored'], {
    needs: 'effort',
    isNeutral: isNone,
    note: EFFORT_NOTE,
  }),
  prompt_cache_key: rule(['carried', 'carried', 'emulated', 'gateway', 'emulated', 'gateway'], {
    needs: 'cache',
    note: CACHE_NOTE,
  }),
  cache_ttl: rule(['ignored', 'ignored', 'carried', 'ignored', 'carried', 'ignored'], {
    needs: 'cache',
    note: 'Converse: Claude from 3.7 on',
  }),
  user: rule(['carried', 'carried', 'emulated', 'ignored', 'ignored', 'ignored'], {
    ...verbatim,
    note: '`metadata.user_id` in messages',
  }),
  safety_identifier: rule(['carried', 'carried', 'emulated', 'ignored', 'ignored', 'ignored'], {
    ...verbatim,
    note: '`metadata.user_id` in messages',
  }),
  verbosity: rule(['carried', 'carried', 'ignored', 'ignored', 'ignored'], {
    ...verbatim,
    note: '`text.verbosity` in responses',
  }),
  service_tier: rule(['carried', 'carried', 'ignored', 'ignored', 'ignored'], verbatim),
  metadata: rule(['carried', 'carried', 'ignored', 'ignored', 'ignored'], verbatim),
  prediction: rule(['carried', 'ignored', 'ignored', 'ignored', 'ignored'], {
    ...verbatim,
    note: 'affects speed alone',
  }),
  top_k: rule(['carried', 'ignored', 'carried', 'carried', 'carried', 'ignored'], {
    ...verbatim,
    needs: 'top-k',
    note: 'Converse: Claude and Nova',
  }),
  seed: rule(['carried', 'ignored', 'ignored', 'carried', 'ignored']),
  frequency_penalty: rule(['carried', 'ignored', 'ignored', 'carried', 'ignored'], { isNeutral: isZero }),
  presence_penalty: rule(['carried', 'ignored', 'ignored', 'carried', 'ignored'], { isNeutral: isZero }),
  logit_bias: rule(['carried', 'ignored', 'ignored', 'ignored', 'ignored']),
  store: all('ignored', { isNeutral: isFalse, note: 'nothing is stored' }),
  n: rule(['carried', 'refused', 'refused', 'refused', 'refused'], { ...forwarded, isNeutral: (value) => value === 1 }),
  logprobs: rule(['carried', 'refused', 'refused', 'refused', 'refused'], { ...forwarded, isNeutral: isFalse }),
  top_logprobs: rule(['carried', 'refused', 'refused', 'refused', 'refused'], { ...forwarded, isNeutral: isZero }),
  modalities: rule(['carried', 'refused', 'refused', 'refused', 'refused'], { ...forwarded, isNeutral: isTextAlone }),
  audio: rule(['carried', 'refused', 'refused', 'refused', 'refused'], forwarded),
  web_search_options: rule(['carried', 'refused', 'refused', 'refused', 'refused'], forwarded),
  functions: rule(['carried', 'refused', 'refused', 'refused', 'refused'], {
    forwarded: true,
    help: `use tools; ${CHAT_ONLY}`,
  }),
  function_call: rule(['carried', 'refused', 'refused', 'refused', 'refused'], {
    forwarded: true,
    help: `use tool_choice; ${CHAT_ONLY}`,
  }),
};
