import { z } from 'zod';
import { openRecord } from '../../platform/contract/common.ts';

const CACHE_TTL = z.enum(['5m', '30m', '1h', '6h', '24h']);

export const FunctionTool = z.object({
  type: z.literal('function'),
  function: z.object({
    name: z.string(),
    description: z.string().optional(),
    parameters: z.record(z.string(), z.unknown()).optional(),
    strict: z.boolean().optional(),
  }),
});

const ToolCall = z.object({
  id: z.string(),
  type: z.literal('function'),
  function: z.object({ name: z.string(), arguments: z.string() }),
});

const ChatPart = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({
    type: z.literal('image_url'),
    image_url: z.object({ url: z.string(), detail: z.enum(['low', 'high', 'auto']).optional() }),
  }),
]);

export const ChatMessage = z
  .object({
    role: z.enum(['system', 'developer', 'user', 'assistant', 'tool']),
    content: z.union([z.string(), z.array(ChatPart), z.null()]).optional(),
    tool_calls: z.array(ToolCall).optional(),
    tool_call_id: z.string().optional(),
    /** of a result: the tool has failed */
    is_error: z.boolean().optional(),
    reasoning_content: z.string().optional(),
    reasoning_details: z.array(z.record(z.string(), z.unknown())).optional(),
  })
  .meta({ id: 'ChatMessage' });

export const ChatRequest = z
  .object({
    model: z.string(),
    messages: z.array(ChatMessage).min(1),
    stream: z.boolean().default(false),
    max_tokens: z.int().min(1).optional(),
    max_completion_tokens: z.int().min(1).optional(),
    temperature: z.number().min(0).max(2).optional(),
    top_p: z.number().min(0).max(1).optional(),
    stop: z.union([z.string(), z.array(z.string())]).optional(),
    seed: z.int().optional(),
    frequency_penalty: z.number().min(-2).max(2).optional(),
    presence_penalty: z.number().min(-2).max(2).optional(),
    logit_bias: openRecord(z.string(), z.number()).optional(),
    n: z.int().min(1).optional(),
    logprobs: z.boolean().optional(),
    top_logprobs: z.int().min(0).optional(),
    tools: z.array(FunctionTool).optional(),
    tool_choice: z.union([z.string(), z.record(z.string(), z.unknown())]).optional(),
    parallel_tool_calls: z.boolean().optional(),
    response_format: z.record(z.string(), z.unknown()).optional(),
    reasoning: z.object({ effort: z.enum(['low', 'medium', 'high']).optional() }).optional(),
    prompt_cache_key: z.string().optional(),
    cache_ttl: CACHE_TTL.optional(),
    stream_options: z.object({ include_usage: z.boolean().optional() }).optional(),
  })
  .meta({ id: 'ChatRequest' });

export const ChatCompletion = z
  .object({
    id: z.string(),
    object: z.literal('chat.completion'),
    created: z.int(),
    model: z.string(),
    choices: z.array(
      z.object({
        index: z.int(),
        message: ChatMessage,
        finish_reason: z.enum(['stop', 'length', 'tool_calls', 'content_filter']),
      }),
    ),
    usage: z.object({ prompt_tokens: z.int(), completion_tokens: z.int(), total_tokens: z.int() }).loose(),
  })
  .meta({ id: 'ChatCompletion' });

export const ResponsesRequest = z
  .object({
    model: z.string(),
    input: z.union([z.string(), z.array(z.record(z.string(), z.unknown())).min(1)]),
    instructions: z.string().optional(),
    stream: z.boolean().default(false),
    max_output_tokens: z.int().min(1).optional(),
    tools: z
      .array(z.object({ type: z.enum(['function', 'custom', 'namespace']), name: z.string() }).loose())
      .optional(),
    tool_choice: z.union([z.string(), z.record(z.string(), z.unknown())]).optional(),
    parallel_tool_calls: z.boolean().optional(),
    text: z.record(z.string(), z.unknown()).optional(),
    reasoning: z
      .object({ effort: z.enum(['none', 'low', 'medium', 'high']).default('high') })
      .loose()
      .optional(),
    temperature: z.number().min(0).max(2).optional(),
    top_p: z.number().min(0).max(1).optional(),
    store: z.literal(false).optional(),
    include: z.array(z.string()).optional(),
    metadata: openRecord(z.string(), z.unknown()).optional(),
    prompt_cache_key: z.string().optional(),
    cache_ttl: CACHE_TTL.optional(),
  })
  .meta({ id: 'ResponsesRequest' });

export const ResponseResource = z
  .object({
    id: z.string(),
    object: z.literal('response'),
    created_at: z.int(),
    status: z.enum(['in_progress', 'completed', 'incomplete', 'failed']),
    model: z.string(),
    output: z.array(
      z.object({ id: z.string(), type: z.enum(['reasoning', 'message', 'function_call', 'custom_tool_call']) }).loose(),
    ),
    output_text: z.string().optional(),
    usage: z.object({ input_tokens: z.int(), output_tokens: z.int(), total_tokens: z.int() }).loose().nullable(),
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
    incomplete_details: z.object({ reason: z.enum(['max_output_tokens', 'content_filter']) }).nullable(),
  })
  .loose()
  .meta({ id: 'ResponseResource' });
