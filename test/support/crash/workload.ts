import type { CrashPoint } from './point.ts';
import { openRandom } from './random.ts';
import type { Random } from './random.ts';

/** One call of the model. `id` is the line that its command writes to the ledger. */
export type PlannedCall = { id: string; name: string; args: Record<string, unknown> };

/** The model's actions in one turn: the calls of each reply; after the last one it reports the end. */
export type TurnPlan = { tag: string; steps: PlannedCall[][] };

/** An action of the application after this many events of the session, or once the session is idle. */
export type Action = { afterEvents: number } & (
  | { kind: 'prompt'; plan: TurnPlan; delivery: 'immediate' | 'when_idle' }
  | { kind: 'steer' | 'interrupt'; text: string }
);

export type SessionPlan = { name: string; agent: 'free' | 'asking'; actions: Action[] };

/**
 * `freeze` is a stop that outlasts the lease, and then a continuation as if nothing had been. `fill` leaves no space on
 * the disk of the database for a while.
 */
export type Blow = 'kill' | 'drain' | 'freeze' | 'fill';

/** A fault of the server, at most one per start. */
export type Kill =
  | ({ kind: 'statement' } & CrashPoint)
  /** so long after the n-th model request since the start: within its stream, or while tools run */
  | { kind: 'model'; number: number; delayMs: number; blow: Blow }
  | { kind: 'time'; delayMs: number; blow: Blow };

export type Workload = { seed: number; sessions: SessionPlan[]; kills: Kill[]; answers: Random };

function buildCalls(random: Random, tag: string, step: number): PlannedCall[] {
  const id = (index: number) => `${tag}.${step}.${index}`;
  const note = (index: number): PlannedCall => ({
    id: id(index),
    name: 'terminal',
    // the program, not the builtin: bash told to end by SIGTERM leaves the line of its own echo without its end
    args: { command: `${random.pick(['', '', 'sleep 0.05; '])}/bin/echo ${id(index)} >> /workspace/ledger` },
  });
  const read = (index: number): PlannedCall => ({
    id: id(index),
    name: 'search_files',
    args: { pattern: `nothing ${id(index)}`, path: '.' },
  });
  const write = (index: number): PlannedCall => ({
    id: id(index),
    name: 'write_file',
    args: { path: `files/${id(index)}`, content: id(index) },
  });
  const charge = (index: number): PlannedCall => ({ id: id(index), name: 'charge', args: { item: id(index) } });
  switch (random.between(0, 5)) {
    case 0:
      return [read(0), read(1), read(2)];
    case 1:
      return [write(0), read(1), write(2)];
    case 2:
      return [note(0), note(1)];
    case 3:
      return [read(0), note(1), write(2), note(3)];
    case 4:
      return [charge(0)];
    default:
      return [note(0), charge(1), read(2)];
  }
}

function buildTurn(random: Random, tag: string, steps: number): TurnPlan {
  return { tag, steps: Array.from({ length: steps }, (_, step) => buildCalls(random, tag, step)) };
}

function buildSession(random: Random, name: string, agent: SessionPlan['agent'], interrupt: boolean): SessionPlan {
  const prompt = (number: number, afterEvents: number): Action => ({
    kind: 'prompt',
    afterEvents,
    delivery: number === 0 ? 'immediate' : random.pick(['immediate', 'when_idle']),
    plan: buildTurn(random, `${name}p${number}`, number === 0 ? random.between(2, 3) : random.between(0, 1)),
  });
  const more: Action[] = [
    prompt(1, random.between(2, 6)),
    { kind: 'steer', afterEvents: random.between(3, 12), text: `steer ${name}-a.` },
    ...(interrupt ? [{ kind: 'interrupt' as const, afterEvents: random.between(5, 14), text: 'never mind' }] : []),
    prompt(2, random.between(6, 14)),
    { kind: 'steer', afterEvents: random.between(8, 20), text: `steer ${name}-b.` },
  ];
  return { name, agent, actions: [prompt(0, 0), ...more.sort((left, right) => left.afterEvents - right.afterEvents)] };
}

/** A fault from outside the process. */
export function buildBlow(random: Random, blow: Blow): Kill {
  return random.next() < 0.6
    ? { kind: 'model', number: random.between(1, 8), delayMs: random.between(0, 250), blow }
    : { kind: 'time', delayMs: random.between(0, 1500), blow };
}

function buildKill(random: Random): Kill {
  switch (random.between(0, 3)) {
    case 0:
    case 1:
      return buildBlow(random, 'kill');
    default: {
      const statement = random.pick(['journal', 'write'] as const);
      const number = random.between(1, statement === 'journal' ? 30 : 60);
      return { kind: 'statement', statement, number, when: random.pick(['before', 'after']) };
    }
  }
}

/** In turn: before and after each append, after each other change, anything. */
function buildFirstKill(random: Random, seed: number): Kill {
  const round = Math.floor(seed / 4);
  const append = { kind: 'statement', statement: 'journal', number: 1 + (round % 40) } as const;
  switch (seed % 4) {
    case 0:
      return { ...append, when: 'before' };
    case 1:
      return { ...append, when: 'after' };
    case 2:
      return { kind: 'statement', statement: 'write', number: 5 + ((round * 3) % 90), when: 'after' };
    default:
      return buildKill(random);
  }
}

/** Two sessions at once. The first kill goes through all places seed by seed; up to two more are random. */
export function buildWorkload(seed: number): Workload {
  const random = openRandom(seed);
  const first = buildFirstKill(random, seed);
  const more = random.pick([0, 0, 0, 1, 1, 2]);
  return {
    seed,
    kills: [first, ...Array.from({ length: more }, () => buildKill(random))],
    sessions: [
      buildSession(random, `a${seed}`, seed % 3 === 0 ? 'free' : 'asking', false),
      buildSession(random, `b${seed}`, 'free', seed % 2 === 0),
    ],
    answers: random,
  };
}

/** The same sessions, with other faults. */
export function buildBlows(seed: number, blow: Blow, count: number): Workload {
  const random = openRandom(seed);
  const kills = Array.from({ length: count }, () => buildBlow(random, blow));
  return { ...buildWorkload(seed), kills };
}
