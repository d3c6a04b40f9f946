import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { record, request } from './wire-events/conversation.ts';
import type { Recording } from './wire-events/conversation.ts';
import { diffJson, normalize } from './wire-events/normalize.ts';
import { SCENARIOS } from './wire-events/scenarios.ts';

/**
 * Plays the same turns against the servers of two checkouts and prints the differences between their events: `node
 * scripts/compare-events.ts BEFORE [AFTER]`. Both are folders with installed dependencies; the default for the second
 * is this checkout. Exits with 1 if any event differs.
 */
const ROOT = fileURLToPath(new URL('../', import.meta.url));
const KEY = 'cap_key_of_the_comparison';

type Server = { url: string; key: string; close(): Promise<void> };

/** Starts the role `all` of a checkout with its own data folder. Throws its output if it does not start. */
async function startServer(checkout: string): Promise<Server> {
  const folder = mkdtempSync(join(tmpdir(), 'capstan-events-'));
  const env = { PATH: process.env.PATH, CAPSTAN_DATA_DIR: folder, CAPSTAN_API_KEY: KEY, CAPSTAN_PORT: '0' };
  const child = spawn(process.execPath, [join(checkout, 'src/main.ts'), 'all'], { cwd: folder, env });
  const ended = new Promise<void>((settle) => child.once('exit', () => settle()));
  let output = '';
  const url = await new Promise<string>((settle, reject) => {
    const read = (chunk: Buffer): void => {
      output = (output + chunk.toString('utf8')).slice(-20_000);
      const found = /Capstan listens on (\S+)/.exec(output)?.[1];
      if (found !== undefined) settle(found);
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.once('error', reject);
    void ended.then(() => reject(new Error(`The server of ${checkout} ended:\n${output}`)));
  });
  return {
    url,
    key: KEY,
    async close() {
      child.kill('SIGTERM');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The normalized events of every scenario, by name. */
async function recordAll(checkout: string): Promise<Map<string, unknown>> {
  const server = await startServer(checkout);
  try {
    const recordings = new Map<string, unknown>();
    for (const { name, agent, session = {}, play } of SCENARIOS) {
      const created = await request<{ id: string }>(server.url, KEY, '/v1/agents', {
        name,
        modelName: 'script/demo',
        systemPrompt: 'Be brief.',
        skills: [],
        tools: [],
        ...agent,
      });
      const { id } = await request<{ id: string }>(server.url, KEY, '/v1/sessions', {
        agentId: created.id,
        subjectId: 'ada',
        title: 'Test',
        ...session,
      });
      const recording: Recording = await record(server, id, play);
      recordings.set(name, normalize(recording));
    }
    return recordings;
  } finally {
    await server.close();
  }
}

async function main(before: string | undefined, after: string = ROOT): Promise<number> {
  if (before === undefined) throw new Error('Name the checkout to compare with: compare-events.ts BEFORE [AFTER]');
  const left = await recordAll(resolve(before));
  const right = await recordAll(resolve(after));
  let different = 0;
  for (const [name, recording] of left) {
    const lines = diffJson(recording, right.get(name));
    if (lines.length > 0) different += 1;
    console.log([`${name}: ${lines.length === 0 ? 'equal' : 'different'}`, ...lines].join('\n'));
  }
  console.log(`${left.size - different} of ${left.size} scenarios have equal events.`);
  return different === 0 ? 0 : 1;
}

process.exitCode = await main(...(process.argv.slice(2) as [string?, string?]));
