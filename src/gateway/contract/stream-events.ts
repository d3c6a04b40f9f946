// Tests: test/gateway/contract/document.test.ts
import { z } from 'zod';

/** What `data:` of each event of a stream holds; streams of chat and text completions end with `[DONE]`. */
const Usage = z.looseObject({ prompt_tokens: z.int(), completion_tokens: z.int(), total_tokens: z.int() });

export const ChatCompletionChunk = z
  .looseObject({
    id: z.string(),
    object: z.literal('chat.completion.chunk'),
    created: z.int(),
    model: z.string(),
    choices: z.array(
      z.looseObject({
        index: z.int(),
        delta: z.looseObject({ role: z.string().optional(), content: z.string().nullable().optional() }),
        finish_reason: z.string().nullable(),
      }),
    ),
    usage: Usage.nullable().optional(),
  })
  .meta({ id: 'ChatCompletionChunk' });

export const CompletionChunk = z
  .looseObject({
    id: z.string(),
    object: z.literal('text_completion'),
    created: z.int(),
    model: z.string(),
    choices: z.array(z.looseObject({ index: z.int(), text: z.string(), finish_reason: z.string().nullable() })),
    usage: Usage.nullable().optional(),
  })
  .meta({ id: 'CompletionChunk' });

export const ResponseStreamEvent = z
  .looseObject({
    type: z.string().describe('`response.created`, `response.output_text.delta`, …'),
    sequence_number: z.int(),
  })
  .meta({ id: 'ResponseStreamEvent' });

export const MessageStreamEvent = z
  .looseObject({ type: z.string().describe('`message_start`, `content_block_delta`, …') })
  .meta({ id: 'MessageStreamEvent' });
