import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Automation } from '../../../../src/agents/contract/automations.ts';
import type { List } from '../../../../src/platform/contract/common.ts';
import type { Session } from '../../../../src/agents/contract/sessions.ts';
import { makeAgent } from '../harness.ts';
import type { Api } from '../harness.ts';
import { BODY, openAutomations } from './harness.ts';
import type { Automations } from './harness.ts';

let automations: Automations;
let api: Api;
let agentId: string;
let path: string;
let make: Automations['make'];
let get: Automations['get'];
let act: Automations['act'];
let patch: Automations['patch'];

beforeAll(async () => {
  automations = await openAutomations();
  ({ api, agentId, path, make, get, act, patch } = automations);
});
afterAll(() => automations.close());

describe('an automation', () => {
  it('is created with its record in full', async () => {
    const before = Date.now();
    const made = await make({ name: 'Report', skills: ['report', 'report'], repeat: 3 });
    expect(made).toEqual({
      object: 'automation',
      id: expect.stringMatching(/^aut_[0-9a-z]{26}$/),
      agentId,
      subjectId: 'anna',
      name: 'Report',
      prompt: 'Write the report.',
      schedule: 'every 2h',
      scheduleDisplay: 'every 2h',
      timezone: 'UTC',
      skills: ['report'],
      repeat: 3,
      enabled: true,
      state: 'scheduled',
      nextRunAt: expect.any(String),
      lastRunAt: null,
      lastStatus: null,
      lastError: null,
      lastSessionId: null,
      runCount: 0,
      successCount: 0,
      failureCount: 0,
      skippedCount: 0,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    });
    const wait = Date.parse(made.nextRunAt ?? '') - 7_200_000;
    expect(wait).toBeGreaterThanOrEqual(before);
    expect(wait).toBeLessThanOrEqual(Date.now());
    expect(await get(made)).toEqual(made);
  });

  it('is paused when it is created disabled', async () => {
    expect(await make({ enabled: false })).toMatchObject({ state: 'paused', enabled: false, nextRunAt: null });
  });

  it.each([
    ['a prompt that is missing', { prompt: undefined }, 'prompt'],
    ['a prompt of more than 5,000 characters', { prompt: 'a'.repeat(5001) }, 'prompt'],
    ['a name of more than 200', { name: 'a'.repeat(201) }, 'name'],
    ['65 skills', { skills: Array.from({ length: 65 }, () => 'report') }, 'skills'],
    ['a skill that the agent does not have', { skills: ['report', 'nope'] }, 'skills[1]'],
    ['a repeat below 1', { repeat: 0 }, 'repeat'],
    ['a schedule of six fields', { schedule: '0 0 * * * *' }, 'schedule'],
    ['a schedule that cannot be read', { schedule: 'whenever' }, 'schedule'],
    ['a time in the past', { schedule: '2020-01-01T00:00:00Z' }, 'schedule'],
  ])('is refused for %s', async (_name, body, field) => {
    const reply = await api.call('POST', path, { body: { ...BODY, ...body } });
    expect(reply.status).toBe(400);
    expect(reply.body.error).toBe('validation_error');
    expect(reply.body.message).toContain(field);
  });

  it('is listed for its subject and for the whole agent, newest first', async () => {
    const agent = await makeAgent(api);
    const of = (subject: string) => `/v1/agents/${agent}/users/${subject}/automations`;
    const [first, second, third] = [await make({}, of('a')), await make({}, of('b')), await make({}, of('a'))];
    const all = await api.call<List<Automation>>('GET', `/v1/agents/${agent}/automations?limit=2`);
    expect(all.body.data.map(({ id }) => id)).toEqual([third.id, second.id]);
    expect(all.body.pagination).toMatchObject({ limit: 2, offset: 0, hasMore: true, total: 3 });
    const own = await api.call<List<Automation>>('GET', of('a'));
    expect(own.body.data.map(({ id }) => id)).toEqual([third.id, first.id]);
  });

  it('is invisible to other subjects, agents and organizations', async () => {
    const { id } = await make();
    const other = await makeAgent(api);
    for (const [at, key] of [
      [`/v1/agents/${agentId}/users/bob/automations/${id}`, api.key],
      [`/v1/agents/${other}/users/anna/automations/${id}`, api.key],
      [`${path}/${id}`, api.otherKey],
      [`${path}/aut_none`, api.key],
    ] as const) {
      for (const [method, suffix, body] of [
        ['GET', '', undefined],
        ['PATCH', '', { prompt: 'x' }],
        ['DELETE', '', undefined],
        ['POST', '/pause', undefined],
        ['POST', '/resume', undefined],
        ['POST', '/trigger', undefined],
        ['GET', '/sessions', undefined],
      ] as const) {
        const reply = await api.call(method, at + suffix, { key, ...(body === undefined ? {} : { body }) });
        expect(reply.status, `${method} ${at}${suffix}`).toBe(404);
      }
    }
    expect((await get({ id })).runCount).toBe(0);
  });

  it('changes by the fields that are given, and counts a new schedule from now', async () => {
    const made = await make({ name: 'Old', repeat: 2 });
    const renamed = await patch(made.id, { name: null, repeat: null, prompt: 'Again.' });
    expect(renamed.status).toBe(200);
    expect(renamed.body).toMatchObject({ name: null, repeat: null, prompt: 'Again.', nextRunAt: made.nextRunAt });
    const moved = await patch(made.id, { schedule: '2099-01-01' });
    expect(moved.body).toMatchObject({ schedule: '2099-01-01T00:00:00.000Z', nextRunAt: '2099-01-01T00:00:00.000Z' });
    expect((await patch(made.id, {})).status).toBe(400);
    expect((await patch(made.id, { schedule: '2001-01-01' })).status).toBe(400);
    expect((await patch(made.id, { skills: ['nope'] })).status).toBe(400);
    expect((await patch(made.id, { enabled: false })).body).toMatchObject({ state: 'paused', nextRunAt: null });
  });

  it('waits while paused and continues with the next occurrence', async () => {
    const made = await make();
    const paused = await act(made.id, 'pause');
    expect(paused.status).toBe(200);
    expect(paused.body).toMatchObject({ state: 'paused', enabled: false, nextRunAt: null });
    const resumed = await act(made.id, 'resume');
    expect(resumed.body).toMatchObject({ state: 'scheduled', enabled: true, nextRunAt: made.nextRunAt });
    expect((await act(made.id, 'resume')).body.nextRunAt).toBe(made.nextRunAt);
  });

  it('is gone once deleted, and its sessions stay', async () => {
    const { id } = await make();
    const run = await api.call<{ sessionId: string }>('POST', `${path}/${id}/trigger`);
    const deleted = await api.call('DELETE', `${path}/${id}`);
    expect([deleted.status, deleted.body]).toEqual([200, { object: 'automation.deleted', id, deleted: true }]);
    expect((await api.call('DELETE', `${path}/${id}`)).status).toBe(404);
    const session = await api.call<Session>('GET', `/v1/sessions/${run.body.sessionId}`);
    expect(session.body.automationId).toBe(id);
  });

  it('of an archived agent starts nothing and can be read, paused and deleted', async () => {
    const archived = await makeAgent(api);
    const at = `/v1/agents/${archived}/users/anna/automations`;
    const { id } = await make({}, at);
    await api.call('POST', `/v1/agents/${archived}/archive`);
    const status = async (method: string, suffix: string, body?: object) =>
      (await api.call(method, at + suffix, body === undefined ? {} : { body })).status;
    expect(await status('POST', '', BODY)).toBe(409);
    expect(await status('PATCH', `/${id}`, { prompt: 'x' })).toBe(409);
    expect(await status('POST', `/${id}/trigger`)).toBe(409);
    expect(await status('POST', `/${id}/resume`)).toBe(409);
    expect(await status('GET', `/${id}`)).toBe(200);
    expect(await status('POST', `/${id}/pause`)).toBe(200);
    expect(await status('DELETE', `/${id}`)).toBe(200);
  });
});
