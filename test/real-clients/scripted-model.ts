import type { UpstreamFormat } from '../../src/inference/config.ts';
import type { AssistantPart } from '../../src/inference/model.ts';
import type { RecordedRequest, Script } from '../support/model-server/server.ts';

/** The model's final text. */
export const FINAL = 'Mended: sum.mjs adds now 🎉, and the check passes.';

/** The model's reasoning before each step, and the signature that its provider requires back. */
export const PROOFS = {
  'chat-completions': 'First I look.',
  messages: 'c2lnbmF0dXJl',
  responses: 'Z2VoZWlt',
  'generate-content': 'Z2Vkb2NodA==',
  converse: 'Z2VwcsO8ZnQ=',
} as const;

export type Call = { name: string; arguments: Record<string, unknown> };

/** Concurrent calls of one reply. */
export type Step = Call[];

export type Conversation = {
  /** names of the available tools */
  tools: string[];
  /** tool results by call id, as JSON */
  results: Map<string, string>;
};

type Wire = Record<string, unknown>;
const READERS: Record<UpstreamFormat, (body: Wire) => Conversation> = {
  'chat-completions': (body) => ({
    tools: list(body.tools).map((tool) => String((tool.function as Wire).name)),
    results: new Map(
      list(body.messages).flatMap((message) =>
        message.role === 'tool' ? [[String(message.tool_call_id), JSON.stringify(message.content)]] : [],
      ),
    ),
  }),
  messages: (body) => ({
    tools: list(body.tools).map((tool) => String(tool.name)),
    results: new Map(
      list(body.messages)
        .flatMap((message) => list(message.content))
        .flatMap((block) =>
          block.type === 'tool_result' ? [[String(block.tool_use_id), JSON.stringify(block.content)]] : [],
        ),
    ),
  }),
  responses: (body) => ({
    tools: list(body.tools).map((tool) => String(tool.name)),
    results: new Map(
      list(body.input).flatMap((item) =>
        item.type === 'function_call_output' ? [[String(item.call_id), JSON.stringify(item.output)]] : [],
      ),
    ),
  }),
  'generate-content': (body) => ({
    tools: list(body.tools).flatMap((group) => list(group.functionDeclarations).map((tool) => String(tool.name))),
    results: new Map(
      list(body.contents)
        .flatMap((content) => list(content.parts))
        .flatMap(({ functionResponse }) =>
          functionResponse === undefined
            ? []
            : [[String((functionResponse as Wire).id), JSON.stringify((functionResponse as Wire).response)]],
        ),
    ),
  }),
  converse: (body) => ({
    tools: list((body.toolConfig as Wire | undefined)?.tools).flatMap(({ toolSpec }) =>
      toolSpec === undefined ? [] : [String((toolSpec as Wire).name)],
    ),
    results: new Map(
      list(body.messages)
        .flatMap((message) => list(message.content))
        .flatMap(({ toolResult }) =>
          toolResult === undefined
            ? []
            : [[String((toolResult as Wire).toolUseId), JSON.stringify((toolResult as Wire).content)]],
        ),
    ),
  }),
};

function list(value: unknown): Wire[] {
  return Array.isArray(value) ? (value as Wire[]) : [];
}

/** Whether the request asks for a stream; some formats say it in the path. */
export function isStreamed({ path, body }: RecordedRequest): boolean {
  return body.stream === true || path.includes(':streamGenerateContent') || path.endsWith('/converse-stream');
}

export function readConversation({ format, body }: RecordedRequest): Conversation {
  return READERS[format](body);
}

function think(format: UpstreamFormat): AssistantPart {
  const text = 'First I look.';
  switch (format) {
    case 'messages':
      return { type: 'reasoning', text, signature: PROOFS.messages };
    case 'responses':
      return { type: 'reasoning', text, summary: true, encrypted: PROOFS.responses };
    case 'generate-content':
      // The provider signs the text that follows.
      return { type: 'reasoning', text, signature: `text:${PROOFS['generate-content']}` };
    case 'converse':
      return { type: 'reasoning', text, signature: PROOFS.converse };
    default:
      return { type: 'reasoning', text };
  }
}

/** The id of a call, which also encodes the position in the conversation. */
export function callId(step: number, call: number): string {
  return `call_${step}_${call}`;
}

/**
 * A model that executes the steps in order, in the wire format of the request. It depends on the conversation alone,
 * so that a repeated request gets the same answer. If a tool was not offered, it ends the task with a text that says
 * so. Requests without tools, such as for a title, get one word.
 */
export function scriptModel(steps: Step[]): Script {
  return (request) => {
    const { tools, results } = readConversation(request);
    const chunkBytes = 97;
    const say = (text: string) => ({ reply: { content: [{ type: 'text' as const, text }] }, chunkBytes });
    if (tools.length === 0) return say('Sums');
    const at = steps.findIndex((step, index) => !step.every((_, call) => results.has(callId(index, call))));
    const step = steps[at];
    if (step === undefined) return say(FINAL);
    const missing = step.find(({ name }) => !tools.includes(name));
    if (missing !== undefined) return say(`${missing.name} is not among ${tools.join(', ')}`);
    const calls = step.map((call, index): AssistantPart => ({
      type: 'tool_call',
      id: callId(at, index),
      name: call.name,
      arguments: JSON.stringify(call.arguments),
    }));
    const text: AssistantPart = { type: 'text', text: `Step ${at + 1}.` };
    return { reply: { content: [think(request.format), text, ...calls] }, chunkBytes };
  };
}
