import type { WireFormat } from '../../src/inference/config.ts';
import type { AssistantPart } from '../../src/inference/model.ts';
import type { RecordedRequest, Script } from '../support/model-server/server.ts';

/** What the model says once every step is done. */
export const FINAL = 'Mended: sum.mjs adds now 🎉, and the check passes.';

/** What the model thinks before each step, and what its provider wants back with it. */
export const PROOFS = { 'chat-completions': 'First I look.', messages: 'c2lnbmF0dXJl', responses: 'Z2VoZWlt' } as const;

export type Call = { name: string; arguments: Record<string, unknown> };

/** Calls of one turn of the model, made at once. */
export type Step = Call[];

export type Conversation = {
  /** names of the tools that may be called */
  tools: string[];
  /** what came back, by id of the call, as JSON */
  results: Map<string, string>;
};

type Wire = Record<string, unknown>;
const READERS: Record<WireFormat, (body: Wire) => Conversation> = {
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
};

function list(value: unknown): Wire[] {
  return Array.isArray(value) ? (value as Wire[]) : [];
}

export function readConversation({ format, body }: RecordedRequest): Conversation {
  return READERS[format](body);
}

function think(format: WireFormat): AssistantPart {
  const text = 'First I look.';
  switch (format) {
    case 'chat-completions':
      return { type: 'reasoning', text };
    case 'messages':
      return { type: 'reasoning', text, signature: PROOFS.messages };
    case 'responses':
      return { type: 'reasoning', text, summary: true, encrypted: PROOFS.responses };
  }
}

/** The id of a call, which also says how far a conversation is. */
export function callId(step: number, call: number): string {
  return `call_${step}_${call}`;
}

/**
 * A model that takes the steps one after the other, in the terms of the wire format that it is asked in. It goes by the
 * conversation alone, so that a request that is repeated gets the same answer. A tool that it has not been offered ends
 * the task with a text that says so; calls without tools, such as for a title, get a word.
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
