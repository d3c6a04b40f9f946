import { isRecord } from '../../platform/records.ts';
import { all, isFalse, isNone, rule } from './rule.ts';
import { EFFORT_NOTE } from './notes.ts';
import type { FieldTable } from './rule.ts';

const forwarded = {
  forwarded: true,
  help: 'only providers with the format messages and passThrough: true support it',
} as const;

/** Fields of a messages request. Others are ignored. With `passThrough` a messages upstream gets every field. */
export const MESSAGES_FIELDS: FieldTable = {
  model: all('carried'),
  models: all('gateway', { note: 'further models, tried in order' }),
  messages: all('carried'),
  'messages[].content[]: server tools and their results': rule(
    ['refused', 'refused', 'carried', 'refused', 'refused', 'refused'],
    forwarded,
  ),
  'messages[].content[]: document with citations': rule(
    ['refused', 'refused', 'carried', 'refused', 'refused', 'refused'],
    forwarded,
  ),
  'messages[].content[]: document with a PDF in base64': all('carried'),
  system: all('carried'),
  max_tokens: all('carried'),
  stream: all('carried'),
  tools: all('carried'),
  'tools[]: bash, text_editor, memory': all('emulated', { note: 'a function with the same input' }),
  'tools[]: server tools': rule(['refused', 'refused', 'carried', 'refused', 'refused', 'refused'], forwarded),
  tool_choice: all('carried'),
  'tool_choice.disable_parallel_tool_use': rule(['carried', 'carried', 'carried', 'ignored', 'ignored'], {
    isNeutral: isFalse,
    note: 'generateContent and Converse have none',
  }),
  stop_sequences: rule(['carried', 'emulated', 'carried', 'carried', 'carried', 'ignored'], {
    note: 'responses providers have none: the reply is cut',
  }),
  temperature: all('carried'),
  top_p: all('carried'),
  top_k: rule(['ignored', 'ignored', 'carried', 'carried', 'carried', 'ignored'], {
    needs: 'top-k',
    note: 'Converse: Claude and Nova',
  }),
  thinking: rule(['carried', 'carried', 'carried', 'carried', 'carried', 'gateway'], {
    needs: 'effort',
    isNeutral: (value) => isRecord(value) && value['type'] === 'disabled',
    note: `an effort in other formats: ${EFFORT_NOTE}`,
  }),
  output_config: rule(['carried', 'carried', 'carried', 'carried', 'carried', 'ignored'], {
    note: '`effort`, `format`',
  }),
  'output_config.effort': rule(['carried', 'carried', 'carried', 'carried', 'carried', 'ignored'], {
    needs: 'effort',
    isNeutral: isNone,
    note: EFFORT_NOTE,
  }),
  output_format: rule(['carried', 'carried', 'carried', 'carried', 'carried', 'ignored']),
  metadata: rule(['carried', 'carried', 'carried', 'ignored', 'ignored', 'ignored'], {
    note: '`user_id`, as `user` in other formats',
  }),
  cache_control: rule(['ignored', 'ignored', 'emulated', 'ignored', 'emulated', 'ignored'], {
    needs: 'cache',
    note: 'the gateway sets breakpoints itself; Converse: for Claude from 3.7 on',
  }),
  service_tier: all('ignored'),
  context_management: all('ignored'),
  mcp_servers: rule(['refused', 'refused', 'carried', 'refused', 'refused', 'refused'], {
    ...forwarded,
    isNeutral: (value) => Array.isArray(value) && value.length === 0,
  }),
  container: rule(['refused', 'refused', 'carried', 'refused', 'refused', 'refused'], forwarded),
  thread: rule(['refused', 'refused', 'carried', 'refused', 'refused', 'refused'], {
    ...forwarded,
    note: 'SDKs go on without a thread',
  }),
};
