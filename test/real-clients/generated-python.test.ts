import { execFile } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeScratch } from '../support/scratch.ts';
import { startService } from '../support/service.ts';
import type { Service } from '../support/service.ts';
import { callTool, say } from '../support/service-model.ts';

const CACHE = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache');
const PROGRAMS = join(CACHE, 'capstan/python-clients/generated/bin');
const DOCUMENT = fileURLToPath(new URL('../../openapi.json', import.meta.url));
const SCRIPT = fileURLToPath(new URL('python/list_events.py', import.meta.url));
const COMPLAINT = /warning|skipping|missing/i;

const folder = makeScratch('python-client');
const client = join(folder, 'capstan_client');
let service: Service;

/** Runs a program of the environment to its end. Throws with its output if its exit code is not 0. */
async function run(program: string, args: readonly string[], env: Record<string, string> = {}): Promise<string> {
  const path = join(PROGRAMS, program);
  if (!existsSync(path)) throw new Error(`${program} is not installed: run \`make test-clients\``);
  const { stdout, stderr } = await promisify(execFile)(path, args, {
    cwd: folder,
    // The generator formats its files with the ruff of the environment, which it looks for in the path.
    env: { PATH: `${dirname(path)}:/usr/bin:/bin`, HOME: folder, PYTHONPATH: folder, PYTHONUTF8: '1', ...env },
    maxBuffer: 16 * 1024 * 1024,
  });
  return stdout + stderr;
}

beforeAll(async () => {
  service = await startService();
});
afterAll(async () => {
  await service.close();
  rmSync(folder, { recursive: true, force: true });
});

it('generates a Python client without a warning, and lists the events of a session with typed payloads', async () => {
  const generated = await run('openapi-python-client', [
    'generate',
    `--path=${DOCUMENT}`,
    `--output-path=${client}`,
    '--meta=none',
    '--fail-on-warning',
  ]);
  expect(generated).not.toMatch(COMPLAINT);
  // The generated files themselves are not checked, only what the program reads of them.
  expect(await run('mypy', ['--strict', '--follow-imports=silent', SCRIPT])).toContain('Success: no issues');

  service.model.play(callTool('terminal', { command: 'echo hello' }), say('Done.'));
  const printed = await run('python', [SCRIPT], {
    CAPSTAN_URL: service.api.url,
    CAPSTAN_API_KEY: service.key,
    MODEL: 'acme/small',
  });
  const lines = printed.trim().split('\n');
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
    { type: 'user.message', payload: 'UserMessage', says: "Go. ['data:text/plain;base64,aGk=']" },
    { type: 'user.message', payload: 'UserMessageListed', says: "Go. ['note.txt']" },
    { type: 'session.status_running', payload: 'SessionStatusRunning', says: '' },
    { type: 'agent.tool_use', payload: 'AgentToolUse', says: 'terminal' },
    { type: 'agent.tool_result', payload: 'AgentToolResult', says: 'done' },
    { type: 'agent.message', payload: 'AgentMessage', says: 'Done.' },
    { type: 'session.status_idle', payload: 'SessionStatusIdle', says: 'end of turn' },
    { type: 'error', payload: 'ErrorBody', says: 'not_found' },
  ]);
});
