import type { EventEnvelope } from '../../clients/typescript/index.ts';

export type Payload = EventEnvelope['payload'];

type PayloadOf<Type extends Payload['type']> = Extract<Payload, { type: Type }>;

/** One function per event type, each with the payload of its type. Types may be missing. */
export type PayloadTable<Result> = {
  readonly [Type in Payload['type']]?: (payload: PayloadOf<Type>, event: EventEnvelope) => Result;
};

/** Calls the function for the type of the event; `undefined` where the table has none, or the server sent a new type. */
export function callByType<Result>(table: PayloadTable<Result>, event: EventEnvelope): Result | undefined {
  const { payload } = event;
  if (!Object.hasOwn(table, payload.type)) return undefined;
  // The key is the payload's own type, which the compiler cannot relate to the function's parameter.
  const handle = table[payload.type] as ((payload: Payload, event: EventEnvelope) => Result) | undefined;
  return handle?.(payload, event);
}
