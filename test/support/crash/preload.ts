/**
 * Loaded with `--import` before a server under test: kills it at the `CrashPoint` that its environment names, or that a
 * line of its standard input names later; `null` there disarms it. A line is answered by `ARMED`.
 */
import { Worker } from 'node:worker_threads';
import { Client } from 'pg';
import type { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { ARMED, POINT_VARIABLE, matchesPoint } from './point.ts';
import type { CrashPoint } from './point.ts';

type Embedded = { id: number; sql: string };

function die(): never {
  process.kill(process.pid, 'SIGKILL');
  // The signal needs no cooperation, but nothing of this process may run on until it has come.
  for (;;);
}

let armed: CrashPoint | null = null;
/** Statements of the kind that is counted, since it was armed. */
let count = 0;
/** The embedded database's number of the statement that is the last. */
let awaited: number | undefined;

function arm(point: CrashPoint | null): void {
  armed = point;
  count = 0;
  awaited = undefined;
}

function watch(): void {
  /** Whether this is the statement; does not return if the process dies before it. */
  const isLast = (sql: unknown): boolean => {
    if (armed === null || typeof sql !== 'string' || !matchesPoint(armed, sql)) return false;
    count += 1;
    if (count !== armed.number) return false;
    if (armed.when === 'before') die();
    return true;
  };

  // The embedded database runs in a thread: statements are messages to it, answers are messages from it.
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
watch();
createInterface({ input: process.stdin }).on('line', (line) => {
  arm(JSON.parse(line) as CrashPoint | null);
  process.stdout.write(`${ARMED}\n`);
});
// The open input must not keep the server alive.
(process.stdin as Socket).unref();
