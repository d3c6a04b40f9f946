import { textOf } from './chat.ts';
import type { Chat } from './chat.ts';
import { say } from './service-model.ts';
import type { EventEnvelope } from '../../src/agents/contract/events.ts';
import type { Goal } from '../../src/agents/contract/sessions.ts';

/** A message of the service about a goal; it belongs to no turn. */
export const isStatement = (event: EventEnvelope) => event.type === 'agent.message' && event.turnId === null;
const isEnd = (event: EventEnvelope) => event.type === 'session.status_idle' && event.turnId === null;

/** Waits for the service's message about the goal, and for the idle event after it. */
export async function readStatement(chat: Chat): Promise<string> {
  const said = await chat.next(isStatement);
  await chat.next(isEnd);
  return textOf(said);
}

export async function goalOf(chat: Chat): Promise<Goal> {
  return (await chat.session()).goal!;
}

/** A reply that is held until it is released. */
export function hold(text: string) {
  const gate = Promise.withResolvers<void>();
  const answer = async () => {
    await gate.promise;
    return say(text);
  };
  return { answer, open: () => gate.resolve() };
}
