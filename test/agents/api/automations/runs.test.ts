import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Automation } from '../../../../src/agents/contract/automations.ts';
import type { List } from '../../../../src/platform/contract/common.ts';
import type { Session } from '../../../../src/agents/contract/sessions.ts';
import { makeAgent } from '../harness.ts';
import type { Api } from '../harness.ts';
import { openAutomations } from './harness.ts';
import type { Automations } from './harness.ts';

let automations: Automations;
let api: Api;
let agentId: string;
let path: string;
let make: Automations['make'];
let get: Automations['get'];
let act: Automations['act'];
let patch: Automations['patch'];
let makeDue: Automations['makeDue'];
let run: Automations['run'];
let finish: Automations['finish'];

beforeAll(async () => {
  automations = await openAutomations();
  ({ api, agentId, path, make, get, act, patch, makeDue, run, finish } = automations);
});
afterAll(() => automations.close());

describe('a run by hand', () => {
  it('starts a fresh session with the prompt and leaves the schedule alone', async () => {
    const made = await make({ name: 'Report', skills: ['report'] });
    const reply = await api.call<{ sessionId: string }>('POST', `${path}/${made.id}/trigger`);
    expect(reply.status).toBe(202);
    const { sessionId } = reply.body;
    expect(reply.body).toEqual({ object: 'automation.run', automationId: made.id, sessionId });
    const session = await api.call<Session>('GET', `/v1/sessions/${sessionId}`);
    expect(session.body).toMatchObject({
      agentId,
      subjectId: 'anna',
      title: 'Report',
      status: 'running',
      automationId: made.id,
    });
    const log = await api.call<{ data: object[] }>('GET', `/v1/sessions/${sessionId}/events`);
    expect(log.body.data).toMatchObject([
      { type: 'user.message', status: 'received', payload: { content: [{ text: 'Write the report.' }] } },
      { type: 'session.status_running' },
    ]);
    expect(await get(made)).toMatchObject({
      state: 'running',
      nextRunAt: made.nextRunAt,
      runCount: 1,
      lastSessionId: sessionId,
      lastRunAt: expect.any(String),
      lastStatus: null,
    });
  });

  it('is possible while the schedule is paused', async () => {
    const { id } = await make({ enabled: false });
    expect((await act(id, 'trigger')).status).toBe(202);
    expect(await get({ id })).toMatchObject({ state: 'paused', nextRunAt: null, runCount: 1 });
  });

  it('is part of the history, newest first', async () => {
    const { id } = await make();
    const runs: string[] = [];
    for (let count = 0; count < 3; count += 1) {
      runs.unshift((await api.call<{ sessionId: string }>('POST', `${path}/${id}/trigger`)).body.sessionId);
    }
    const history = await api.call<List<Session>>('GET', `${path}/${id}/sessions?limit=2`);
    expect(history.body.data.map((session) => session.id)).toEqual(runs.slice(0, 2));
    expect(history.body.pagination).toMatchObject({ limit: 2, offset: 0, hasMore: true, total: 3 });
  });
});

describe('an occurrence', () => {
  it('that is due runs once; those that were missed before are not made up for', async () => {
    const made = await make();
    await makeDue(made.id, '3 days');
    await run();
    await run();
    const after = await get(made);
    expect(after).toMatchObject({ state: 'running', runCount: 1, nextRunAt: made.nextRunAt });
    await finish(made.id);
    expect(await get(made)).toMatchObject({
      state: 'scheduled',
      runCount: 1,
      successCount: 1,
      failureCount: 0,
      lastStatus: 'ok',
      lastError: null,
    });
  });

  it('of a one-shot runs however late, and completes it', async () => {
    const { id } = await make({ schedule: '30m' });
    await makeDue(id, '90 days');
    await run();
    expect(await get({ id })).toMatchObject({ state: 'running', nextRunAt: null });
    await finish(id);
    expect(await get({ id })).toMatchObject({ state: 'completed', nextRunAt: null, successCount: 1 });
    expect((await act(id, 'resume')).body).toMatchObject({ state: 'completed', nextRunAt: null });
    expect((await patch(id, { schedule: '1h' })).body).toMatchObject({ state: 'scheduled' });
  });

  it('is skipped and counted while the one before it still runs', async () => {
    const made = await make();
    await makeDue(made.id);
    await run();
    await makeDue(made.id);
    await run();
    expect(await get(made)).toMatchObject({ runCount: 1, skippedCount: 1, nextRunAt: made.nextRunAt });
    await finish(made.id);
    await makeDue(made.id);
    await run();
    expect(await get(made)).toMatchObject({ runCount: 2, skippedCount: 1 });
  });

  it('that fails or is interrupted is an error result', async () => {
    const made = await make();
    await makeDue(made.id);
    await run();
    await finish(made.id, {
      type: 'error',
      code: 'upstream_rejected',
      message: 'The provider refused.',
      retryable: false,
    });
    expect(await get(made)).toMatchObject({ failureCount: 1, lastStatus: 'error', lastError: 'The provider refused.' });
    await makeDue(made.id);
    await run();
    await finish(made.id, { type: 'end_turn' }, { interrupted: true });
    expect(await get(made)).toMatchObject({ failureCount: 2, lastStatus: 'error', successCount: 0 });
  });

  it('is the last one when the limit of runs is reached, until that is lifted', async () => {
    const made = await make({ repeat: 2 });
    for (let round = 0; round < 2; round += 1) {
      await makeDue(made.id);
      await run();
      await finish(made.id);
    }
    expect(await get(made)).toMatchObject({ state: 'completed', nextRunAt: null, runCount: 2, successCount: 2 });
    expect((await patch(made.id, { repeat: null })).body).toMatchObject({ state: 'scheduled', repeat: null });
    expect((await get(made)).nextRunAt).not.toBeNull();
  });

  it('counts scheduled runs only: manual runs do not use up the limit', async () => {
    const made = await make({ repeat: 1 });
    await act(made.id, 'trigger');
    await finish(made.id);
    expect(await get(made)).toMatchObject({ state: 'scheduled', successCount: 1 });
  });

  it('that cannot start five times in a row is an error, until it is resumed', async () => {
    const agent = await makeAgent(api);
    const at = `/v1/agents/${agent}/users/anna/automations`;
    const made = await make({}, at);
    await api.backends.db.query(`UPDATE automations SET skills = '{gone}' WHERE id = $1`, [made.id]);
    const read = async () => (await api.call<Automation>('GET', `${at}/${made.id}`)).body;
    for (let attempt = 1; attempt <= 5; attempt += 1) {
      await makeDue(made.id);
      await run();
      expect(await read()).toMatchObject({
        failureCount: attempt,
        runCount: 0,
        lastStatus: 'error',
        state: attempt < 5 ? 'scheduled' : 'error',
      });
    }
    expect((await read()).nextRunAt).toBeNull();
    expect((await read()).lastError).toContain('gone');
    expect((await api.call<Automation>('POST', `${at}/${made.id}/resume`)).body.state).toBe('scheduled');
  });

  it('does not come while it is paused', async () => {
    const made = await make();
    await makeDue(made.id);
    await act(made.id, 'pause');
    await run();
    expect(await get(made)).toMatchObject({ runCount: 0, state: 'paused' });
  });

  it('does not take a conversation of the subject’s allowance', async () => {
    const agent = await makeAgent(api, { rateLimits: { conversationsPerMinute: 1 } });
    const at = `/v1/agents/${agent}/users/anna/automations`;
    const { id } = await make({}, at);
    for (let count = 0; count < 3; count += 1) expect((await api.call('POST', `${at}/${id}/trigger`)).status).toBe(202);
  });
});

describe('a run that ends with a retryable error', () => {
  const OUTAGE = {
    type: 'error',
    code: 'upstream_unavailable',
    message: 'The provider is down.',
    retryable: true,
  } as const;

  /** Minutes from the end of the last run to the next one. */
  async function readDelay(id: string): Promise<number> {
    const { nextRunAt, updatedAt } = await get({ id });
    return Math.round((Date.parse(nextRunAt ?? '') - Date.parse(updatedAt)) / 60_000);
  }

  it('is tried again after 1, 5, 15 and 60 minutes, and then has failed', async () => {
    const { id } = await make({ schedule: '30m' });
    for (const minutes of [1, 5, 15, 60]) {
      await makeDue(id);
      await run();
      await finish(id, OUTAGE);
      expect(await get({ id })).toMatchObject({ state: 'scheduled', failureCount: 0, lastError: OUTAGE.message });
      expect(await readDelay(id)).toBe(minutes);
    }
    await makeDue(id);
    await run();
    await finish(id, OUTAGE);
    expect(await get({ id })).toMatchObject({ state: 'completed', nextRunAt: null, runCount: 5, failureCount: 1 });
  });

  it('has failed at nothing when a later attempt ends well', async () => {
    const { id } = await make({ schedule: '30m' });
    for (const stop of [OUTAGE, { type: 'end_turn' } as const]) {
      await makeDue(id);
      await run();
      await finish(id, stop);
    }
    const after = {
      state: 'completed',
      lastStatus: 'ok',
      lastError: null,
      failureCount: 0,
      successCount: 1,
      runCount: 2,
    };
    expect(await get({ id })).toMatchObject(after);
  });

  it('does not put off the next occurrence', async () => {
    const made = await make({ schedule: 'every 3m' });
    for (let attempt = 0; attempt < 2; attempt += 1) {
      await makeDue(made.id);
      await run();
      await finish(made.id, OUTAGE);
    }
    expect(await readDelay(made.id)).toBeLessThanOrEqual(3);
  });

  it('waits while the automation is paused, and continues when it is resumed', async () => {
    const { id } = await make({ schedule: '30m' });
    await makeDue(id);
    await run();
    await act(id, 'pause');
    await finish(id, OUTAGE);
    expect(await get({ id })).toMatchObject({ state: 'paused', nextRunAt: null });
    expect((await act(id, 'resume')).body).toMatchObject({ state: 'scheduled', nextRunAt: expect.any(String) });
  });

  it('by hand is not tried again', async () => {
    const made = await make();
    await act(made.id, 'trigger');
    await finish(made.id, OUTAGE);
    expect(await get(made)).toMatchObject({ nextRunAt: made.nextRunAt, failureCount: 1 });
  });
});

it('counts runs that ended well toward the limit, not failed ones', async () => {
  const made = await make({ repeat: 1 });
  await makeDue(made.id);
  await run();
  await finish(made.id, { type: 'error', code: 'upstream_rejected', message: 'No.', retryable: false });
  expect(await get(made)).toMatchObject({ state: 'scheduled', failureCount: 1, nextRunAt: made.nextRunAt });
  await makeDue(made.id);
  await run();
  await finish(made.id);
  expect(await get(made)).toMatchObject({ state: 'completed', successCount: 1, nextRunAt: null });
});

it('reads cron expressions in the time zone of the automation', async () => {
  const made = await make({ schedule: '0 9 * * *', timezone: 'Asia/Tokyo' });
  expect(made).toMatchObject({ timezone: 'Asia/Tokyo', scheduleDisplay: 'At 09:00 (Asia/Tokyo)' });
  expect(made.nextRunAt).toMatch(/T00:00:00.000Z$/);
  const moved = await patch(made.id, { timezone: 'UTC' });
  expect(moved.body).toMatchObject({ timezone: 'UTC', scheduleDisplay: 'At 09:00' });
  expect(moved.body.nextRunAt).toMatch(/T09:00:00.000Z$/);
  const refused = await api.call('POST', path, { body: { prompt: 'x', schedule: '30m', timezone: 'Mars/Base' } });
  expect(refused).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining('timezone: must be an IANA') },
  });
});
