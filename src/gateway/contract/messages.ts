import { z } from 'zod';

const Blocks = z.array(z.object({ type: z.string() }).loose());

const Turn = z.object({ role: z.enum(['user', 'assistant', 'system']), content: z.union([z.string(), Blocks]) });

const fields = {
  model: z.string(),
  messages: z.array(Turn).min(1),
  system: z.union([z.string(), Blocks]).optional(),
  tools: z
    .array(
      z
        .object({
          name: z.string(),
          description: z.string().optional(),
          input_schema: z.record(z.string(), z.unknown()),
        })
        .loose(),
    )
    .optional(),
  tool_choice: z
    .object({ type: z.enum(['auto', 'any', 'tool', 'none']) })
    .loose()
    .optional(),
  thinking: z
    .object({ type: z.enum(['enabled', 'adaptive', 'disabled']) })
    .loose()
    .optional(),
};

export const CountTokensRequest = z.object(fields).loose().meta({ id: 'CountTokensRequest' });

export const MessagesRequest = z
  .object({
    ...fields,
    max_tokens: z.int().min(1),
    stream: z.boolean().default(false),
    temperature: z.number().min(0).max(1).optional(),
    top_p: z.number().min(0).max(1).optional(),
    stop_sequences: z.array(z.string()).optional(),
  })
  .loose()
  .meta({ id: 'MessagesRequest' });

export const Message = z
  .object({
    id: z.string(),
    type: z.literal('message'),
    role: z.literal('assistant'),
    model: z.string(),
    content: Blocks,
    stop_reason: z.enum(['end_turn', 'max_tokens', 'stop_sequence', 'tool_use', 'refusal']),
    stop_sequence: z.string().nullable(),
    usage: z.object({ input_tokens: z.int(), output_tokens: z.int() }).loose(),
  })
  .meta({ id: 'Message' });

export const TokenCount = z.object({ input_tokens: z.int() }).meta({ id: 'TokenCount' });

export const MessagesError = z
  .object({
    type: z.literal('error'),
    error: z.object({
      type: z.string(),
      message: z.string(),
      details: z.object({ error_code: z.string(), unsupported: z.array(z.string()) }).optional(),
    }),
    request_id: z.string(),
  })
  .meta({ id: 'MessagesError' });
