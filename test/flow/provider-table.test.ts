import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EventEnvelope } from '../../src/agents/contract/events.ts';
import { UpstreamFormat } from '../../src/inference/config.ts';
import { allowAll, interrupt, textOf } from '../support/chat.ts';
import { callTool, callTools, say } from '../support/service-model.ts';
import type { RecordedRequest, ScriptedAnswer } from '../support/model-server/server.ts';
import { startService } from '../support/service.ts';
import type { Service } from '../support/service.ts';

const STORY = 'It was a dark and stormy night. '.repeat(20);
const limited = (seconds: number): ScriptedAnswer => ({ status: 429, headers: { 'retry-after': String(seconds) } });
const cutCall: ScriptedAnswer = {
  reply: {
    content: [{ type: 'tool_call', id: 'cut', name: 'write_file', arguments: '{"path":"a.txt","content":"a' }],
    finish: 'length',
  },
};
const twice: ScriptedAnswer = {
  reply: {
    content: [
      { type: 'tool_call', id: 'same', name: 'todo', arguments: '{}' },
      { type: 'tool_call', id: 'same', name: 'todo', arguments: '{"todos":[]}' },
    ],
  },
};
const HUNDRED = callTools(Array.from({ length: 100 }, (): [string, unknown] => ['todo', {}]));
const TOO_LONG = '{"error":{"message":"prompt is too long","code":"context_length_exceeded"}}';
const REFUSED_KEY = '{"error":{"message":"Incorrect API key provided: sk-verysecret0123456789"}}';

/** The provider's answers, in order, the last one repeated; and the outcome of the turn. */
type Row = {
  provider: string;
  answers: readonly ScriptedAnswer[];
  /** the code of the error that ends the turn; absent: success */
  code?: string;
  /** upstream calls */
  calls: number;
  message?: string;
  /** for each tool result, whether it is an error */
  results?: readonly boolean[];
  /** a format in which a provider cannot answer so */
  cannotBe?: UpstreamFormat;
};

const ROWS: readonly Row[] = [
  { provider: '429 with Retry-After 1', answers: [limited(1), say('ok')], calls: 2, message: 'ok' },
  { provider: '429, longer than turns wait', answers: [limited(3600)], code: 'upstream_rate_limited', calls: 1 },
  { provider: '500 twice', answers: [{ status: 500 }, { status: 500 }, say('ok')], calls: 3, message: 'ok' },
  { provider: '503', answers: [{ status: 503 }, say('ok')], calls: 2, message: 'ok' },
  {
    provider: '529 three times',
    answers: [{ status: 529 }, { status: 529 }, { status: 529 }, say('ok')],
    calls: 4,
    message: 'ok',
  },
  { provider: 'a page of HTML', answers: [{ body: '<html>Bad gateway</html>' }, say('ok')], calls: 2, message: 'ok' },
  { provider: 'a stream without JSON', answers: [{ body: 'data: what?\n\n' }, say('ok')], calls: 2, message: 'ok' },
  {
    provider: 'a reset after the first words',
    answers: [{ ...say(STORY), cutAfterBytes: 2500, chunkBytes: 500 }, say(STORY)],
    calls: 2,
    message: STORY,
  },
  {
    provider: 'arguments that are no JSON',
    answers: [callTool('todo', '{"todos": ['), say('ok')],
    calls: 2,
    message: 'ok',
    results: [true],
    // Arguments are an object there, not text.
    cannotBe: 'generate-content',
  },
  {
    provider: 'an unknown tool',
    answers: [callTool('Terminals', {}), say('ok')],
    calls: 2,
    message: 'ok',
    results: [true],
  },
  { provider: 'one call id twice', answers: [twice, say('ok')], calls: 2, message: 'ok', results: [false, false] },
  { provider: 'an empty reply', answers: [say(''), say('ok')], calls: 2, message: 'ok' },
  { provider: 'empty replies', answers: [say('')], code: 'empty_reply', calls: 2 },
  { provider: 'a full window', answers: [{ status: 400, body: TOO_LONG }], code: 'context_overflow', calls: 1 },
  {
    provider: 'a cut in a tool call',
    answers: [cutCall, say('ok')],
    calls: 2,
    message: 'ok',
    results: [true],
  },
  {
    provider: 'a cut in a text',
    answers: [say('One, ', { finish: 'length' }), say('two.')],
    calls: 2,
    message: 'One, two.',
  },
  { provider: 'a filter', answers: [say('', { finish: 'content_filter' })], code: 'content_filtered', calls: 1 },
  { provider: '401', answers: [{ status: 401, body: REFUSED_KEY }], code: 'upstream_authentication', calls: 1 },
  {
    provider: '100 calls in one reply',
    answers: [HUNDRED, say('ok')],
    calls: 2,
    message: 'ok',
    results: Array.from({ length: 100 }, () => false),
  },
];

const RETRYABLE = new Set(['upstream_rate_limited', 'empty_reply']);

const promptOf = (row: number): string => `Row ${row}.`;

/** Answers each session from its own row, which its prompt names. Returns the calls so far, by row. */
function playRows(service: Service, rows: readonly Row[]): Map<number, number> {
  const calls = new Map<number, number>();
  const answer = ({ body }: RecordedRequest): ScriptedAnswer => {
    const number = Number(/Row (\d+)\./.exec(JSON.stringify(body))?.[1]);
    const count = calls.get(number) ?? 0;
    calls.set(number, count + 1);
    const { answers } = rows[number]!;
    return answers[Math.min(count, answers.length - 1)]!;
  };
  service.model.play(...Array.from({ length: 2000 }, () => answer));
  return calls;
}

describe.each(UpstreamFormat.options)('a turn over %s whose provider answers with', (format) => {
  let service: Service;
  let calls: Map<number, number>;
  const ends: EventEnvelope[] = [];
  const logs: EventEnvelope[][] = [];
  beforeAll(async () => {
    service = await startService({ format });
    calls = playRows(service, ROWS);
    const agent = await service.api.createAgent({ tools: allowAll });
    await Promise.all(
      ROWS.map(async (_row, number) => {
        const chat = await service.api.openChat(agent, { subjectId: `subject ${number}` });
        ends[number] = await chat.run(promptOf(number));
        logs[number] = await chat.list();
        chat.close();
      }),
    );
  }, 300_000);
  afterAll(() => service.close());

  const rows = ROWS.map((row, number) => ({ ...row, number }));
  it.each(rows.filter(({ cannotBe }) => cannotBe !== format))('$provider', (row) => {
    const stop = ends[row.number]?.payload['stop_reason'];
    const error = { type: 'error', code: row.code, retryable: RETRYABLE.has(row.code ?? '') };
    expect(stop).toMatchObject(row.code === undefined ? { type: 'end_turn' } : error);
    expect(JSON.stringify(stop)).not.toContain('verysecret');
    expect(calls.get(row.number)).toBe(row.calls);
    const events = logs[row.number] ?? [];
    const said = events.filter(({ type }) => type === 'agent.message').map(textOf);
    expect(said).toEqual(row.message === undefined ? [] : [row.message]);
    const results = events.filter(({ type }) => type === 'agent.tool_result');
    expect(results.map(({ payload }) => payload['is_error'])).toEqual(row.results ?? []);
    expect(new Set(results.map(({ payload }) => payload['tool_use_id'])).size).toBe(results.length);
  });

  it('503 for a while: the prompts behind it keep their order', async () => {
    const down = { status: 503 };
    service.model.play(down, down, down, say('one'), say('two'), say('three'));
    const chat = await service.api.openChat(undefined, { subjectId: 'queue' });
    await chat.prompt('First.');
    await chat.next('session.waiting');
    for (const text of ['Second.', 'Third.']) expect((await chat.prompt(text)).status).toBe(202);
    for (let turn = 0; turn < 3; turn += 1) {
      const { payload } = await chat.next('session.status_idle');
      expect(payload['stop_reason']).toEqual({ type: 'end_turn' });
    }
    const events = await chat.list();
    expect(events.filter(({ type }) => type === 'agent.message').map(textOf)).toEqual(['one', 'two', 'three']);
    const prompts = events.filter(({ type }) => type === 'user.message');
    expect(prompts.map(({ status }) => status)).toEqual(['processed', 'processed', 'processed']);
    chat.close();
  });
});

describe.each(UpstreamFormat.options)('a turn over %s whose provider falls silent', (format) => {
  let service: Service;
  beforeAll(async () => {
    service = await startService({ format, silenceMs: 500 });
  });
  afterAll(() => service.close());

  /** The stop reason of the turn, and its messages. */
  async function runTurn(): Promise<{ stop: unknown; said: string[] }> {
    const chat = await service.api.openChat();
    const { payload } = await chat.run('Go.');
    const said = (await chat.list()).filter(({ type }) => type === 'agent.message').map(textOf);
    chat.close();
    return { stop: payload['stop_reason'], said };
  }
  const well = { stop: { type: 'end_turn' }, said: ['Here I am.'] };

  it('asks again when nothing comes', async () => {
    service.model.play({ hang: 'before-headers' }, say('Here I am.'), say('Here I am.'), say('Here I am.'));
    expect(await runTurn()).toEqual(well);
  });

  it('asks again when it stops after the first words, which are discarded', async () => {
    const stuck = { ...say(STORY), chunkBytes: 1500, gapMs: 60_000 };
    service.model.play(stuck, say('Here I am.'), say('Here I am.'), say('Here I am.'));
    expect(await runTurn()).toEqual(well);
  });

  it('can be interrupted', async () => {
    const silent = { hang: 'before-headers' } as const;
    service.model.play(...Array.from({ length: 500 }, () => silent));
    const chat = await service.api.openChat();
    await chat.prompt('Go.');
    await service.model.request(0);
    await chat.send(interrupt());
    expect((await chat.next('session.status_idle')).payload).toMatchObject({ interrupted: true });
    chat.close();
  });
});
