import type { Task } from '../../../test/real-clients/task.ts';
import type { TestGateway } from '../../../test/gateway/harness.ts';

type Input = Record<string, unknown>;

/** One call of a tool of Capstan in the tools of a client. */
export type Translate = (name: string, input: Input, task: Task) => { name: string; input: Input };

/** A coding client that works without a person, and reaches its model through the gateway. */
export type CodingClient = {
  name: string;
  translate: Translate;
  /** Gives it the prompt and waits for its end. Returns its last text; throws if it ends with an error. */
  run(gateway: TestGateway, task: Task, model: string): Promise<string>;
};

/** A client that still works after this time has not ended. */
export const DEADLINE_MS = 90_000;
export const PROMPT = 'Go.';

export const readText = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Fields that are given, under other names. */
export function rename(input: Input, names: Readonly<Record<string, string>>): Input {
  return Object.fromEntries(
    Object.entries(names).flatMap(([from, to]) => (input[from] === undefined ? [] : [[to, input[from]]])),
  );
}
