import type { FrameWriter, ResponseMeta, JsonObject } from '../dialect.ts';
import { writeData } from '../dialect.ts';
import { buildChatError } from './error.ts';
import { buildDetail, buildUsage, completionId, decideFinishReason } from './reply.ts';

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
          switch (event.part.type) {
            case 'text':
              return chunk({ content: event.text });
            case 'refusal':
              return chunk({ refusal: event.text });
            case 'reasoning':
              return chunk({ reasoning_content: event.text });
            case 'tool_call':
              return chunk({ tool_calls: [{ index: calls, function: { arguments: event.text } }] });
          }
          return '';
        case 'close': {
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
