import type { AssistantPart, InputPart, ModelMessage, ToolResult } from '../../model.ts';
import type { UpstreamTarget } from '../dialect.ts';
import { joinText, wrapSystem } from '../history.ts';
import { joinTurns } from '../turns.ts';
import type { Turn } from '../turns.ts';
import { asObject } from '../wire.ts';
import { readSignatures } from './signature.ts';
import { isAtLeast, isVertex } from './versions.ts';

export type Part = Record<string, unknown>;
export type Content = { role: 'user' | 'model'; parts: Part[] };

/** Results are a turn of their own: the format counts them against the calls before them. */
type Role = 'user' | 'model' | 'results';

/**
 * Newer models reject a call without its signature. This value, which Google documents, stands for a call of another
 * model.
 */
const FOREIGN_CALL = 'skip_thought_signature_validator';

const TYPES: readonly [string, string][] = [
  ['.png', 'image/png'],
  ['.webp', 'image/webp'],
  ['.gif', 'image/gif'],
];

/** The format requires a type; that of a remote image is known by its name only. */
function guessType(url: string): string {
  const path = url.split(/[?#]/, 1)[0]?.toLowerCase() ?? '';
  return TYPES.find(([ending]) => path.endsWith(ending))?.[1] ?? 'image/jpeg';
}

function buildInput(part: InputPart): Part[] {
  switch (part.type) {
    case 'text':
      return part.text === '' ? [] : [{ text: part.text }];
    case 'image':
    case 'file':
      return [{ inlineData: { mimeType: part.mediaType, data: part.data } }];
    case 'image_url':
      return [{ fileData: { mimeType: guessType(part.url), fileUri: part.url } }];
  }
}

class ContentBuilder {
  readonly #target: UpstreamTarget;
  /** names of calls by id: results repeat them */
  readonly #names = new Map<string, string>();

  constructor(target: UpstreamTarget) {
    this.#target = target;
  }

  #buildId(id: string): Part {
    return isVertex(this.#target) ? {} : { id };
  }

  #buildResult({ callId, content, isError }: ToolResult): { result: Part; media: Part[] } {
    const media = content.filter((part) => part.type !== 'text').flatMap(buildInput);
    const inside = isAtLeast(this.#target.model, 3) && media.length > 0;
    const functionResponse = {
      ...this.#buildId(callId),
      name: this.#names.get(callId) ?? 'tool',
      response: { [isError ? 'error' : 'output']: joinText(content) },
      ...(inside ? { parts: media } : {}),
    };
    return { result: { functionResponse }, media: inside ? [] : media };
  }

  #buildReply(content: readonly AssistantPart[]): Part[] {
    const signatures = readSignatures(content, this.#target.name);
    const sign = (name: string, otherwise?: string): Part => {
      const signature = signatures.get(name) ?? otherwise;
      return signature === undefined ? {} : { thoughtSignature: signature };
    };
    const lastText = content.findLast((part) => part.type === 'text' && part.text !== '');
    let calls = 0;
    return content.flatMap((part): Part[] => {
      switch (part.type) {
        case 'text':
          if (part.text === '') return [];
          return [{ text: part.text, ...(part === lastText ? sign('text') : {}) }];
        case 'refusal':
          return part.text === '' ? [] : [{ text: part.text }];
        case 'tool_call': {
          const { id, name } = part;
          this.#names.set(id, name);
          const args = asObject(JSON.parse(part.arguments)) ?? {};
          // Of parallel calls only the first one is signed.
          const foreign = calls === 0 && isAtLeast(this.#target.model, 3) ? FOREIGN_CALL : undefined;
          const signature = sign(`call-${calls}`, foreign);
          calls += 1;
          return [{ functionCall: { ...this.#buildId(id), name, args }, ...signature }];
        }
        case 'reasoning':
          // Thoughts are not sent back, except for those that are signed themselves.
          if (part.issuer !== this.#target.name || part.signature?.startsWith('thought:') !== true) return [];
          return [{ text: part.text, thought: true, thoughtSignature: part.signature.slice('thought:'.length) }];
      }
    });
  }

  buildTurns(message: ModelMessage): Turn<Role, Part>[] {
    switch (message.role) {
      case 'system':
        return [{ role: 'user', content: [{ text: wrapSystem(message.content) }] }];
      case 'user':
        return [{ role: 'user', content: message.content.flatMap(buildInput) }];
      case 'assistant':
        return [{ role: 'model', content: this.#buildReply(message.content) }];
      case 'tool': {
        const built = message.results.map((result) => this.#buildResult(result));
        return [
          { role: 'results', content: built.map(({ result }) => result) },
          { role: 'user', content: built.flatMap(({ media }) => media) },
        ];
      }
    }
  }
}

/** Moves the results that follow a reply directly after it: nothing may stand between calls and their results. */
function orderResults(turns: readonly Turn<Role, Part>[]): Turn<Role, Part>[] {
  const ordered: Turn<Role, Part>[] = [];
  let waiting: Turn<Role, Part>[] = [];
  const flush = () => {
    const isResult = ({ role }: Turn<Role, Part>) => role === 'results';
    ordered.push(...waiting.filter(isResult), ...waiting.filter((turn) => !isResult(turn)));
    waiting = [];
  };
  for (const turn of turns) {
    if (turn.role !== 'model') {
      waiting.push(turn);
      continue;
    }
    flush();
    ordered.push(turn);
  }
  flush();
  return ordered;
}

/** The conversation, beginning with the user; no content is empty. */
export function buildContents(messages: readonly ModelMessage[], target: UpstreamTarget): Content[] {
  const builder = new ContentBuilder(target);
  const turns = joinTurns(orderResults(messages.flatMap((message) => builder.buildTurns(message))));
  if (turns[0]?.role !== 'user') turns.unshift({ role: 'user', content: [{ text: 'Continue.' }] });
  return turns.map(({ role, content }) => ({ role: role === 'model' ? 'model' : 'user', parts: content }));
}
