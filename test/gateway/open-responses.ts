import { z } from 'zod';

/**
 * Rules of the Open Responses specification (version of 2026-04-24) for a response and its stream, in our own words.
 */

const count = z.int().nonnegative();
const status = z.enum(['in_progress', 'completed', 'incomplete']);
const logprobs = z.array(z.unknown());
const outputText = z.object({ type: z.literal('output_text'), text: z.string(), annotations: z.array(z.unknown()) });
const refusal = z.object({ type: z.literal('refusal'), refusal: z.string() });
const summaryText = z.object({ type: z.literal('summary_text'), text: z.string() });
const reasoningText = z.object({ type: z.literal('reasoning_text'), text: z.string() });
const part = z.discriminatedUnion('type', [outputText, refusal, summaryText, reasoningText]);

const item = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('message'),
    id: z.string().min(1),
    status,
    role: z.literal('assistant'),
    content: z.array(part),
  }),
  z.object({
    type: z.literal('function_call'),
    id: z.string().min(1),
    status,
    call_id: z.string().min(1),
    name: z.string().min(1),
    arguments: z.string(),
  }),
  z.object({
    type: z.literal('reasoning'),
    id: z.string().min(1),
    status,
    summary: z.array(part),
    content: z.array(part).optional(),
    encrypted_content: z.string().optional(),
  }),
]);

const tool = z.object({
  type: z.literal('function'),
  name: z.string(),
  description: z.string().nullable(),
  parameters: z.record(z.string(), z.unknown()).nullable(),
  strict: z.boolean().nullable(),
});
const named = z.object({ type: z.literal('function'), name: z.string() });
const mode = z.enum(['none', 'auto', 'required']);

export const ResponseResource = z.object({
  id: z.string().min(1),
  object: z.literal('response'),
  created_at: z.int(),
  completed_at: z.int().nullable(),
  status: z.enum(['in_progress', 'completed', 'incomplete', 'failed']),
  incomplete_details: z.object({ reason: z.string() }).nullable(),
  model: z.string().min(1),
  previous_response_id: z.string().nullable(),
  instructions: z.string().nullable(),
  output: z.array(item),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
  tools: z.array(tool),
  tool_choice: z.union([
    mode,
    named,
    z.object({ type: z.literal('allowed_tools'), tools: z.array(named).min(1), mode }),
  ]),
  truncation: z.enum(['auto', 'disabled']),
  parallel_tool_calls: z.boolean(),
  text: z.object({
    format: z.discriminatedUnion('type', [
      z.object({ type: z.literal('text') }),
      z.object({ type: z.literal('json_object') }),
      z.object({
        type: z.literal('json_schema'),
        name: z.string(),
        description: z.string().nullable(),
        strict: z.boolean(),
      }),
    ]),
    verbosity: z.enum(['low', 'medium', 'high']).optional(),
  }),
  top_p: z.number(),
  presence_penalty: z.number(),
  frequency_penalty: z.number(),
  top_logprobs: z.int(),
  temperature: z.number(),
  reasoning: z.object({ effort: z.string().nullable(), summary: z.string().nullable() }).nullable(),
  user: z.string().nullable(),
  usage: z
    .object({
      input_tokens: count,
      output_tokens: count,
      total_tokens: count,
      input_tokens_details: z.object({ cached_tokens: count }),
      output_tokens_details: z.object({ reasoning_tokens: count }),
    })
    .nullable(),
  max_output_tokens: z.int().nullable(),
  max_tool_calls: z.int().nullable(),
  store: z.boolean(),
  background: z.boolean(),
  service_tier: z.string(),
  metadata: z.record(z.string(), z.string()),
  safety_identifier: z.string().nullable(),
  prompt_cache_key: z.string().nullable(),
});
export type ResponseResource = z.infer<typeof ResponseResource>;

const event = <T extends string>(type: T, fields: z.core.$ZodLooseShape) =>
  z.object({ type: z.literal(type), sequence_number: count, ...fields });
const at = { item_id: z.string().min(1), output_index: count };
const inContent = { ...at, content_index: count };
const inSummary = { ...at, summary_index: count };

export const StreamEvent = z.discriminatedUnion('type', [
  event('response.created', { response: ResponseResource }),
  event('response.in_progress', { response: ResponseResource }),
  event('response.completed', { response: ResponseResource }),
  event('response.incomplete', { response: ResponseResource }),
  event('response.failed', { response: ResponseResource }),
  event('response.output_item.added', { output_index: count, item }),
  event('response.output_item.done', { output_index: count, item }),
  event('response.content_part.added', { ...inContent, part }),
  event('response.content_part.done', { ...inContent, part }),
  event('response.output_text.delta', { ...inContent, delta: z.string(), logprobs }),
  event('response.output_text.done', { ...inContent, text: z.string(), logprobs }),
  event('response.refusal.delta', { ...inContent, delta: z.string() }),
  event('response.refusal.done', { ...inContent, refusal: z.string() }),
  event('response.function_call_arguments.delta', { ...at, delta: z.string() }),
  event('response.function_call_arguments.done', { ...at, arguments: z.string() }),
  event('response.reasoning_summary_part.added', { ...inSummary, part }),
  event('response.reasoning_summary_part.done', { ...inSummary, part }),
  event('response.reasoning_summary_text.delta', { ...inSummary, delta: z.string() }),
  event('response.reasoning_summary_text.done', { ...inSummary, text: z.string() }),
]);
