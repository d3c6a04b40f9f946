import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import type { EventEnvelope } from '../../src/agents/contract/events.ts';
import type { Session } from '../../src/agents/contract/sessions.ts';
import { buildApi, prompt, textOf, typesOf } from '../support/chat.ts';
import type { Api } from '../support/chat.ts';
import type { CrashPoint } from '../support/crash/point.ts';
import { spawnServer } from '../support/crash/server.ts';
import type { ServerProcess } from '../support/crash/server.ts';
import { startModelServer } from '../support/model-server/server.ts';
import type { ModelServer } from '../support/model-server/server.ts';
import { makeScratch } from '../support/scratch.ts';
import { judge, readChat, say } from '../support/service-model.ts';

const KEY = 'cap_key_of_the_goal_crash_test';
const PATIENCE = { interval: 100 };

let model: ModelServer;
let folder: string;
let server: ServerProcess;
/** requests by purpose, as texts */
let asked: { turn: string[]; judge: string[]; summary: string[] };
let onJudge: (() => void) | undefined;
let usage = 100;

beforeAll(async () => {
  model = await startModelServer();
  model.script((request) => {
    const read = readChat(request);
    const [system = ''] = read;
    const text = JSON.stringify(request.body);
    if (system.includes('You judge whether')) {
      asked.judge.push(text);
      onJudge?.();
      return text.includes('part 4') ? judge('done', 'All parts are there.') : judge('continue', 'More parts.');
    }
    if (system.includes('Sum up the earlier part')) {
      asked.summary.push(text);
      return say(`SUMMARY ${asked.summary.length}`);
    }
    asked.turn.push(JSON.stringify(read));
    const said = read.filter((line) => line.startsWith('assistant:')).length;
    const counts = { input: usage, output: 1, cacheRead: 0, cacheWrite: 0, reasoning: 0 };
    return say(`part ${said + 1}`, { usage: counts });
  });
});
afterAll(() => model.close());
afterEach(async () => {
  server.signal('SIGKILL');
  await server.ended;
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

async function prepare(): Promise<void> {
  asked = { turn: [], judge: [], summary: [] };
  usage = 100;
  folder = makeScratch('goal-crash');
  mkdirSync(join(folder, 'tmp'));
  const models = [{ id: 'small', contextWindow: 8000 }];
  const providers = { acme: { format: 'chat-completions', baseUrl: model.url, apiKey: 'k', models } };
  writeFileSync(join(folder, 'capstan.yaml'), JSON.stringify({ providers }));
}

/** Starts the server, which kills itself at the given point, if any. */
async function start(point?: Omit<CrashPoint, 'statement'>): Promise<Api> {
  server = spawnServer({
    role: 'all',
    env: {
      TMPDIR: join(folder, 'tmp'),
      CAPSTAN_DATA_DIR: folder,
      CAPSTAN_CONFIG: join(folder, 'capstan.yaml'),
      CAPSTAN_API_KEY: KEY,
    },
    point: point && { statement: 'journal', ...point },
  });
  const ready = await server.ready;
  // It may have died as soon as it was ready.
  return buildApi('url' in ready ? ready.url : '', KEY, 'acme/small');
}

/** Starts the server that will die at the point. */
async function die(point: Omit<CrashPoint, 'statement'>): Promise<void> {
  await start(point);
  expect((await server.ended).signal).toBe('SIGKILL');
}

async function open(api: Api): Promise<string> {
  const chat = await api.openChat();
  chat.close();
  return `/v1/sessions/${chat.id}`;
}

/** The response may be lost with the server. */
async function send(api: Api, path: string, text: string): Promise<void> {
  await api.call('POST', `${path}/events`, { events: [prompt(text)] }).catch(() => undefined);
}

async function readLog(api: Api, path: string): Promise<EventEnvelope[]> {
  return (await api.call<{ data: EventEnvelope[] }>('GET', `${path}/events`)).body.data;
}

it('a goal continues after every kill: no turn is lost or repeated', { timeout: 600_000 }, async () => {
  await prepare();
  // the send, the end of the first turn, and then the verdict, which is lost
  const first = await start({ number: 3, when: 'before' });
  const path = await open(first);
  await send(first, path, '/goal Write all parts.');
  expect((await server.ended).signal).toBe('SIGKILL');
  // the verdict is written, together with the second turn
  await die({ number: 1, when: 'after' });
  // the end of the second turn is lost, then written
  await die({ number: 1, when: 'before' });
  await die({ number: 1, when: 'after' });
  // during the judge's call
  onJudge = () => server.signal('SIGKILL');
  await start();
  expect((await server.ended).signal).toBe('SIGKILL');
  onJudge = undefined;
  // the verdict, and the end of the third turn
  await die({ number: 2, when: 'after' });

  const api = await start();
  const read = async () => (await api.call<Session>('GET', path)).body;
  await expect.poll(async () => (await read()).goal?.status, PATIENCE).toBe('done');
  expect(await read()).toMatchObject({ status: 'idle', queuedCount: 0, goal: { turnsUsed: 4 } });
  const log = await readLog(api, path);
  expect(log.map(({ sequence }) => sequence)).toEqual(log.map((_, index) => index + 1));
  expect(typesOf(log)).toEqual([
    'user.message',
    ...Array.from({ length: 4 }, () => ['session.status_running', 'agent.message', 'session.status_idle']).flat(),
    'agent.message',
    'session.status_idle',
  ]);
  const said = log.filter(({ type, turnId }) => type === 'agent.message' && turnId !== null).map(textOf);
  expect(said).toEqual(['part 1', 'part 2', 'part 3', 'part 4']);
});

it(
  'a compaction that is in the log is not made again, and gives the very same prompt',
  { timeout: 600_000 },
  async () => {
    await prepare();
    const talking = await start();
    const path = await open(talking);
    const rest = async (from: Api, turns: number) => {
      const isIdle = ({ type }: EventEnvelope) => type === 'session.status_idle';
      await expect.poll(async () => (await readLog(from, path)).filter(isIdle).length, PATIENCE).toBe(turns);
    };
    for (let number = 1; number <= 8; number += 1) {
      if (number === 8) usage = 6000;
      await send(talking, path, `Question ${number}. ${'Why? '.repeat(200)}`);
      await rest(talking, number);
    }
    usage = 1000;
    server.signal('SIGKILL');
    await server.ended;
    // the send, then the compaction
    const full = await start({ number: 2, when: 'after' });
    await send(full, path, 'And the last one?');
    expect((await server.ended).signal).toBe('SIGKILL');
    asked.turn = [];
    // the end of the turn is lost, so the model is called again
    await die({ number: 1, when: 'before' });
    const api = await start();
    await rest(api, 9);
    expect(asked.summary).toHaveLength(1);
    expect(asked.turn).toHaveLength(2);
    expect(asked.turn[1]).toBe(asked.turn[0]);
    expect(asked.turn[0]).toContain('SUMMARY 1');
    expect(asked.turn[0]).not.toContain('Question 3.');
    expect(typesOf(await readLog(api, path)).filter((type) => type === 'session.compacted')).toHaveLength(1);
  },
);
