import type { FrameWriter, ResponseMeta, JsonObject } from '../dialect.ts';
import { writeData } from '../dialect.ts';
import { buildChatAnnotation } from '../citations.ts';
import { buildChatError } from './error.ts';
import { buildDetail, buildUsage, completionId, decideFinishReason } from './reply.ts';

/** The field of a delta that carries the text of each kind of part. */
const DELTA_FIELDS = { text: 'content', refusal: 'refusal', reasoning: 'reasoning_content' } as const;

const DONE = 'data: [DONE]\n\n';

/** Writes one completion as chunks. `usage`: whether the client asked for a final chunk with the usage. */
export function buildChatFrames(meta: ResponseMeta, options: { usage: boolean }): FrameWriter {
  const head: JsonObject = {
    id: completionId(meta),
    object: 'chat.completion.chunk',
    created: meta.created,
    model: '',
  };
  let calls = -1;
  let thoughts = 0;
  /** number of characters in the text parts before the open part */
  let offset = 0;

  const chunk = (delta: JsonObject, finish: string | null = null): string =>
    writeData({ ...head, choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }] });

  return {
    push(event) {
      switch (event.type) {
        case 'start':
          head['model'] = event.model;
          return chunk({ role: 'assistant', content: '' });
        case 'open': {
          if (event.part.type !== 'tool_call') return '';
          calls += 1;
          const { id, name } = event.part;
          return chunk({ tool_calls: [{ index: calls, id, type: 'function', function: { name, arguments: '' } }] });
        }
        case 'delta':
          return event.part.type === 'tool_call'
            ? chunk({ tool_calls: [{ index: calls, function: { arguments: event.text } }] })
            : chunk({ [DELTA_FIELDS[event.part.type]]: event.text });
        case 'citation': {
          const annotation = buildChatAnnotation(event.citation, event.part, offset);
          return annotation === undefined ? '' : chunk({ annotations: [annotation] });
        }
        case 'close': {
          if (event.part.type === 'text') offset += event.part.text.length;
          if (event.part.type !== 'reasoning') return '';
          const detail = buildDetail(event.part, thoughts);
          thoughts += 1;
          return detail === undefined ? '' : chunk({ reasoning_details: [detail] });
        }
        case 'finish': {
          const usage = options.usage ? writeData({ ...head, choices: [], usage: buildUsage(event.reply.usage) }) : '';
          return chunk({}, decideFinishReason(event.reply)) + usage + DONE;
        }
      }
    },
    fail: (fault) => writeData(buildChatError(fault)),
  };
}
