import { execFile } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ApiError, buildClient, isLiveOnly } from '../../clients/typescript/index.ts';
import type { Client, EventEnvelope } from '../../clients/typescript/index.ts';
import { TABLE } from '../../clients/typescript/generated/table.ts';
import { AGENT_SERVICE_ROUTES } from '../../src/agents/contract/document.ts';
import { makeScratch } from '../support/scratch.ts';
import { startRestartable } from './server.ts';

const SLOW = 180_000;
const run = promisify(execFile);
let server: Awaited<ReturnType<typeof startRestartable>>;
let client: Client;
beforeAll(async () => {
  server = await startRestartable();
  client = buildClient(server);
}, SLOW);
afterAll(() => server.close());

const AGENT = { name: 'ada', modelName: 'script/demo', systemPrompt: '', skills: [], tools: [] };
const say = (text: string) => ({
  events: [{ type: 'user.message' as const, content: [{ type: 'text' as const, text }] }],
});

async function openSession() {
  const agent = await client.createAgent({ ...AGENT, rateLimits: { messagesPerMinute: 1000 } });
  return await client.createSession({ agentId: agent.id, subjectId: 'Zoë/1', title: 'Test' });
}

it('has a function for every operation but the stream', () => {
  const known = new Set(Object.keys(TABLE));
  const missing = AGENT_SERVICE_ROUTES.map((route) => route.id).filter((id) => !known.has(id));
  expect(missing).toEqual(['streamEvents', 'streamOrganizationEvents']);
});

it(
  'follows a session over a kill of its server: every event once, in order, and deltas between',
  { timeout: SLOW },
  async () => {
    const session = await openSession();
    const leave = new AbortController();
    const events: EventEnvelope[] = [];
    let idle = 0;
    const ends: (() => void)[] = [];
    const following = (async () => {
      for await (const event of client.followEvents(session.id, { after: 0, signal: leave.signal })) {
        events.push(event);
        if (event.payload.type !== 'session.status_idle') continue;
        expect(event.payload.stop_reason.type).toBe('end_turn');
        idle += 1;
        ends.splice(0).forEach((end) => end());
      }
    })();
    const turn = async (text: string) => {
      const ended = new Promise<void>((resolve) => ends.push(resolve));
      await client.sendEvents(session.id, say(text));
      await Promise.race([ended, following]);
    };
    await turn('one');
    await server.kill();
    await server.start();
    await turn('two');
    await server.kill();
    await server.start();
    await turn('three');
    leave.abort();
    await following;
    const durable = events.filter((event) => !isLiveOnly(event));
    expect(durable.map((event) => event.sequence)).toEqual(durable.map((_, index) => index + 1));
    expect(idle).toBe(3);
    const texts = durable.flatMap(({ payload }) => (payload.type === 'agent.message' ? payload.content[0]?.text : []));
    expect(texts).toEqual(['You said: one', 'You said: two', 'You said: three']);
    const { data } = await client.listEvents(session.id);
    expect(data.map((event) => event.id)).toEqual(durable.map((event) => event.id));
  },
);

it('misses nothing that happens while it is away before its first event', { timeout: SLOW }, async () => {
  const session = await openSession();
  const leave = new AbortController();
  const items = client.follow(session.id, { signal: leave.signal });
  expect(await items.next()).toEqual({ done: false, value: { kind: 'caught_up' } });
  const next = items.next();
  await server.kill();
  await server.start();
  await client.sendEvents(session.id, say('hello'));
  const first = await next;
  expect(first.value).toMatchObject({ kind: 'event', event: { sequence: 1, type: 'user.message' } });
  leave.abort();
  await items.return(undefined);
});

it('reports errors by code, status and request', { timeout: SLOW }, async () => {
  const missing = await client.getSession('ses_none').catch((error: unknown) => error);
  expect(missing).toBeInstanceOf(ApiError);
  expect(missing).toMatchObject({ status: 404, code: 'not_found', message: 'No such session.', retryable: false });
  expect((missing as ApiError).requestId).toMatch(/\S/);
  const stranger = buildClient({ ...server, baseUrl: server.baseUrl, apiKey: 'cap_wrong' });
  await expect(stranger.listAgents()).rejects.toMatchObject({ status: 401, code: 'unauthorized' });
  const session = await openSession();
  await client.updateSession(session.id, { metadata: {} });
  const late = { type: 'user.approval_response' as const, approval_id: 'evt_x', result: 'allow' as const };
  const refused = await client.sendEvents(session.id, { events: [late] }).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(ApiError);
});

it(
  'sends once under one idempotency key, and reads and writes files as text and bytes',
  { timeout: SLOW },
  async () => {
    const session = await openSession();
    const options = { idempotencyKey: 'the-same' };
    const [a, b] = [
      await client.sendEvents(session.id, say('hi'), options),
      await client.sendEvents(session.id, say('hi'), options),
    ];
    expect(b).toEqual(a);
    const bytes = new Uint8Array([0, 255, 1, 254]);
    const path = 'a b/ü.bin';
    await client.writeFileBytes(session.agentId, 'Zoë/1', bytes, { path });
    const back = await client.readFileBytes(session.agentId, 'Zoë/1', { path });
    expect(new Uint8Array(await back.arrayBuffer())).toEqual(bytes);
    const form = new FormData();
    form.set('file', new Blob(['text']), 'note.txt');
    expect(await client.uploadFileForm(session.agentId, 'Zoë/1', form)).toMatchObject({
      path: 'note.txt',
      sizeBytes: 4,
    });
    const entries = await client.listFiles(session.agentId, 'Zoë/1', { recursive: true });
    expect(entries.data.map((entry) => entry.path)).toContain(path);
  },
);

it(
  'compiles without Node types, and its JavaScript runs on the oldest Node that it names',
  { timeout: SLOW },
  async () => {
    const folder = makeScratch('client-dist');
    const root = fileURLToPath(new URL('../../', import.meta.url));
    const tsc = join(root, 'node_modules/.bin/tsc');
    await run(tsc, ['-p', join(root, 'clients/typescript/tsconfig.json'), '--outDir', join(folder, 'dist')]);
    const program = join(folder, 'use.mjs');
    writeFileSync(
      program,
      `import { buildClient } from './dist/index.js';
     const client = buildClient({ baseUrl: process.argv[2], apiKey: process.argv[3] });
     const agent = await client.createAgent(${JSON.stringify(AGENT)});
     const session = await client.createSession({ agentId: agent.id, subjectId: 'old', title: 'x' });
     await client.sendEvents(session.id, ${JSON.stringify(say('from afar'))});
     for await (const event of client.followEvents(session.id, { after: 0 })) {
       if (event.type === 'agent.message' && !event.payload.delta) console.log(event.payload.content[0].text);
       if (event.type === 'session.status_idle') break;
     }`,
    );
    const nodes = ['/usr/bin/node', process.execPath].filter((node) => existsSync(node));
    for (const node of nodes) {
      const { stdout } = await run(node, [program, server.baseUrl, server.apiKey]);
      expect(stdout).toBe('You said: from afar\n');
    }
    rmSync(folder, { recursive: true, force: true });
  },
);

it('warns once of fields that the server does not know', { timeout: SLOW }, async () => {
  const warnings: string[] = [];
  const warned = buildClient({ baseUrl: server.baseUrl, apiKey: server.apiKey, warn: (text) => warnings.push(text) });
  const misspelt = { ...AGENT, model: 'script/demo' };
  await warned.createAgent(misspelt);
  await warned.createAgent(misspelt);
  expect(warnings).toEqual(['Capstan ignored unknown fields of POST /v1/agents: model']);
});
