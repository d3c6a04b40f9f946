/** Loaded with `--import` before a server under test: kills it at the `CrashPoint` that its environment names. */
import { Worker } from 'node:worker_threads';
import { Client } from 'pg';
import { POINT_VARIABLE, matchesPoint } from './point.ts';
import type { CrashPoint } from './point.ts';

type Embedded = { id: number; sql: string };

function die(): never {
  process.kill(process.pid, 'SIGKILL');
  // The signal needs no cooperation, but nothing of this process may run on until it has come.
  for (;;);
}

function arm(point: CrashPoint): void {
  let count = 0;
  /** Whether the statement is the one; it does not return when the end comes before it. */
  const isLast = (sql: unknown): boolean => {
    if (typeof sql !== 'string' || !matchesPoint(point, sql)) return false;
    count += 1;
    if (count !== point.number) return false;
    if (point.when === 'before') die();
    return true;
  };

  // The embedded database runs in a thread: statements are messages to it, answers are messages from it.
  let awaited: number | undefined;
  const post = Object.getOwnPropertyDescriptor(Worker.prototype, 'postMessage')?.value as (...args: unknown[]) => void;
  Worker.prototype.postMessage = function (this: Worker, ...args: unknown[]) {
    const message = args[0] as Partial<Embedded>;
    if (isLast(message.sql)) awaited = message.id;
    return post.apply(this, args);
  };
  const emit = Reflect.get(Worker.prototype, 'emit') as (...args: unknown[]) => boolean;
  Worker.prototype.emit = function (this: Worker, ...args: unknown[]) {
    if (args[0] === 'message' && awaited !== undefined && (args[1] as Partial<Embedded>).id === awaited) die();
    return emit.apply(this, args);
  };

  const query = Object.getOwnPropertyDescriptor(Client.prototype, 'query')?.value as (...args: unknown[]) => unknown;
  Object.assign(Client.prototype, {
    query(this: Client, ...args: unknown[]) {
      const last = isLast((args[0] as { text?: string } | undefined)?.text);
      const result = query.apply(this, args);
      return last && result instanceof Promise ? result.then(die, die) : result;
    },
  });
}

const text = process.env[POINT_VARIABLE];
if (text !== undefined) arm(JSON.parse(text) as CrashPoint);
