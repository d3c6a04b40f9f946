// Measures the time from the start of the process to the line that says it listens: with an existing data folder, and
// without one, when the embedded database must be created first. Floor: node opening a port.
// Needs: nothing.
import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { makeScratch } from '../test/support/scratch.ts';
import { median, milliseconds, printMachine } from './support/figures.ts';
import { startBenchServer } from './support/server.ts';

const ROUNDS = 7;

async function measureFloor(): Promise<number> {
  const started = performance.now();
  const script = "require('http').createServer().listen(0, '127.0.0.1', () => console.log('listens'))";
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  await new Promise((resolve) => child.stdout.once('data', resolve));
  const time = performance.now() - started;
  child.kill('SIGKILL');
  return time;
}

async function measureOurs(dataDir: string): Promise<number> {
  const server = await startBenchServer({}, dataDir);
  await server.close();
  return server.readyMs;
}

printMachine();
const kept = makeScratch('bench-start');
await measureOurs(kept);
const times = { floor: [] as number[], existing: [] as number[], first: [] as number[] };
for (let round = 0; round < ROUNDS; round += 1) {
  times.floor.push(await measureFloor());
  times.existing.push(await measureOurs(kept));
  const fresh = makeScratch('bench-first');
  times.first.push(await measureOurs(fresh));
  rmSync(fresh, { recursive: true, force: true });
}
rmSync(kept, { recursive: true, force: true });
console.log(`floor, node opens a port: ${milliseconds(median(times.floor))}`);
console.log(`existing data folder: ${milliseconds(median(times.existing))}`);
console.log(`first start, makes the database: ${milliseconds(median(times.first))} (medians of ${ROUNDS})`);
