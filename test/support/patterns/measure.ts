import { createContext, Script } from 'node:vm';
import { writeAttack } from './attacks.ts';
import type { Attack } from './attacks.ts';

/** Lengths at which a text is tried, so that what is exponential or cubic shows before it takes minutes. */
const STEPS = [512, 4096, 16_384];
/** ms after which a run on the shortest text is ended: it would take for ever. */
const NEVER = 1000;
/** ms; a linear pattern needs less than a tenth of a millisecond for the longest of these steps. */
const SLOW = 12;
/** ms; the longest step is left out for a text that took less at the one before. */
const SUSPECT = 0.25;

/** ms of the processor that `run` takes on this thread: what else the machine does is not counted. */
export function time(run: () => void): number {
  const before = process.threadCpuUsage();
  run();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}

/** ms, the best of several runs: garbage collection and compilation only ever add. */
export function timeBest(run: () => void, runs = 3): number {
  return Math.min(...Array.from({ length: runs }, () => time(run)));
}

const context: { run?: () => void } = createContext({});
const script = new Script('run()');

/** Ends a `run` that does not end by itself, also inside of a regular expression. */
function endsInTime(run: () => void): boolean {
  context.run = run;
  try {
    script.runInContext(context, { timeout: NEVER });
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return false;
    throw error;
  }
}

/** Runs a pattern on a text as the sources do: once, or over all matches. */
export function runPattern(pattern: RegExp, text: string): void {
  pattern.lastIndex = 0;
  if (pattern.global || pattern.sticky) text.replace(pattern, '');
  else pattern.test(text);
}

export type Slow = { attack: Attack; length: number; ms: number };

/** The first attack on which `run` is not linear, or the slowest of them when all are. `longest`: the text's bound. */
export function findSlow(
  attacks: readonly Attack[],
  run: (text: string) => void,
  longest = Infinity,
): { slow: Slow | undefined; worst: Attack | undefined } {
  let worst: { attack: Attack; ms: number } | undefined;
  for (const attack of attacks) {
    for (const step of STEPS) {
      const length = Math.min(step, longest);
      const text = writeAttack(attack, length);
      if (step === STEPS[0] && !endsInTime(() => run(text))) {
        return { slow: { attack, length, ms: Infinity }, worst: attack };
      }
      let ms = time(() => run(text));
      if (ms > SLOW) ms = timeBest(() => run(text));
      if (ms > SLOW) return { slow: { attack, length, ms }, worst: attack };
      if (step >= longest || step === STEPS.at(-1) || (step === STEPS.at(-2) && ms < SUSPECT)) {
        if (worst === undefined || ms > worst.ms) worst = { attack, ms };
        break;
      }
    }
  }
  return { slow: undefined, worst: worst?.attack };
}
