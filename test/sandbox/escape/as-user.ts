import { NEVER, newTarget, openLocalSandboxes } from '../../support/sandbox.ts';
import { ATTEMPTS, CALLS, buildCall, openHostSockets, raceLink, runAttempt } from './attempts.ts';

/** What came of each attempt: its name and its output. */
export type EscapeReport = {
  uid: number;
  attempts: [name: string, output: string][];
  calls: [name: string, output: string][];
  race: string[];
};

/** Runs the whole suite as this process's user, and prints an `EscapeReport`. */
async function main(): Promise<void> {
  const local = await openLocalSandboxes();
  const sockets = await openHostSockets();
  const sandbox = await local.sandboxes.acquire(newTarget(), NEVER);
  const report: EscapeReport = { uid: process.getuid?.() ?? 0, attempts: [], calls: [], race: [] };
  for (const [name, command] of ATTEMPTS) {
    const output = await runAttempt(sandbox, `(${command}) 2>&1; echo over`);
    report.attempts.push([name, sockets.countReached() === 0 ? output : `ESCAPED to a socket: ${output}`]);
  }
  for (const [name, number] of process.arch === 'x64' ? CALLS : []) {
    report.calls.push([name, await runAttempt(sandbox, buildCall(number))]);
  }
  report.race = await raceLink(await local.sandboxes.acquire(newTarget(), NEVER));
  sockets.close();
  await local.close();
  process.stdout.write(JSON.stringify(report));
}

await main();
