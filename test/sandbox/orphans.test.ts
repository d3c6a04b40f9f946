import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, it } from 'vitest';
import { listSandboxProcesses } from '../support/sandbox-processes.ts';
import { openLocalSandboxes } from '../support/sandbox.ts';
import { makeScratch } from '../support/scratch.ts';

// Opening sandboxes removes leftovers of dead processes; no other test file may do it first.
const folder = makeScratch('orphans');
process.env['TMPDIR'] = folder;
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const HOLDER = `
import { openProcessSandboxes } from './src/sandbox/process/process.ts';
import { findRipgrep } from './src/sandbox/process/ripgrep.ts';
import { pino } from 'pino';
const sandboxes = await openProcessSandboxes({
  dir: process.argv[1], network: 'none', rgPath: findRipgrep(), allowUnwrapped: false, log: pino({ level: 'silent' }),
});
const target = { organizationId: 'org_1', agentId: 'agt_1', subjectId: 'one', sessionId: 'ses_1' };
await sandboxes.acquire(target, new AbortController().signal);
process.stdout.write('held');
setInterval(() => {}, 1000);
`;

it('leaves no executor and no folder behind when the process that holds it is killed', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'orphan-volumes-'));
  const holder = spawn(process.execPath, ['--input-type=module', '-e', HOLDER, dir], {
    cwd: new URL('../..', import.meta.url),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await new Promise((resolve) => holder.stdout.once('data', resolve));
  expect(listSandboxProcesses(join(dir, 'org_1')).length).toBeGreaterThan(0);
  const gone = new Promise((resolve) => holder.once('exit', resolve));
  holder.kill('SIGKILL');
  await gone;
  while (listSandboxProcesses(join(dir, 'org_1')).length > 0) await sleep(20);
  const left = () => readdirSync(tmpdir()).filter((name) => name.startsWith(`capstan-${holder.pid}-`));
  expect(left()).toHaveLength(1);
  const next = await openLocalSandboxes();
  expect(left()).toHaveLength(0);
  await next.close();
  rmSync(dir, { recursive: true, force: true });
  expect(existsSync(dir)).toBe(false);
});
