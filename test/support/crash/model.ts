import type { AssistantPart } from '../../../src/inference/model.ts';
import { startModelServer } from '../model-server/server.ts';
import type { ScriptedAnswer } from '../model-server/server.ts';
import type { TurnPlan } from './workload.ts';

type Message = { role: string; content: string | { type: string; text?: string }[] | null };

/** A model whose reply depends on the request alone, so that a repeated request gets the same reply. */
export type CrashModel = {
  /** with the version segment */
  url: string;
  /** Whether any request contained this text. */
  hasRead(text: string): boolean;
  /** Called at each request of a turn. */
  onRequest(handler: () => void): void;
  close(): Promise<void>;
};

const MARK = '@plan ';

/** The prompt that makes the model follow a plan. */
export function writePrompt(plan: TurnPlan): string {
  return MARK + JSON.stringify(plan);
}

function readText({ content }: Message): string {
  if (typeof content === 'string') return content;
  return (content ?? []).map((part) => part.text ?? '').join('\n');
}

function answer(messages: readonly Message[]): AssistantPart[] {
  const system = messages.find((message) => message.role === 'system');
  if (system !== undefined && readText(system).startsWith('Write a title')) return [{ type: 'text', text: 'A title' }];
  const opened = messages.findLastIndex((message) => message.role === 'user');
  const prompt = messages[opened] === undefined ? '' : readText(messages[opened]);
  const at = prompt.indexOf(MARK);
  if (at === -1) return [{ type: 'text', text: `heard: ${prompt}` }];
  // Late guidance of the previous turn may follow the plan on separate lines.
  const [plan = ''] = prompt.slice(at + MARK.length).split('\n');
  const { tag, steps } = JSON.parse(plan) as TurnPlan;
  const number = messages.slice(opened).filter((message) => message.role === 'assistant').length;
  const calls = steps[number];
  if (calls === undefined) return [{ type: 'text', text: `done: ${tag}` }];
  return [
    { type: 'text', text: `step ${number} of ${tag}` },
    ...calls.map(({ id, name, args }): AssistantPart => ({
      type: 'tool_call',
      id: `call_${id}`,
      name,
      arguments: JSON.stringify(args),
    })),
  ];
}

export async function startCrashModel(): Promise<CrashModel> {
  const server = await startModelServer();
  const handlers = new Set<() => void>();
  const read = new Set<string>();
  server.script(({ body }): ScriptedAnswer => {
    const messages = body.messages as Message[];
    for (const message of messages) read.add(readText(message));
    for (const handler of handlers) handler();
    // In pieces, so that a stream can be cut.
    return { reply: { content: answer(messages) }, chunkBytes: 1500, gapMs: 2 };
  });
  return {
    url: server.url,
    hasRead: (text) => [...read].some((message) => message.includes(text)),
    onRequest: (handler) => void handlers.add(handler),
    close: () => server.close(),
  };
}
