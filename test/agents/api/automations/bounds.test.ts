import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeAgent } from '../harness.ts';
import { BODY, openAutomations } from './harness.ts';
import type { Automations } from './harness.ts';

let automations: Automations;
beforeAll(async () => {
  automations = await openAutomations();
});
afterAll(() => automations.close());

it.each([
  ['name', 'a'.repeat(201)],
  ['prompt', ''],
  ['prompt', ' \n'],
  ['prompt', null],
  ['prompt', 'a'.repeat(5001)],
  ['schedule', ''],
  ['schedule', '0 0 * * * *'],
  ['schedule', '61 * * * *'],
  ['schedule', 'every'],
  ['schedule', '2020-01-01T00:00:00Z'],
  ['skills', 'report'],
  ['skills', Array.from({ length: 65 }, () => 'report')],
  ['skills', ['nope']],
  ['repeat', 0],
  ['repeat', 1.5],
  ['repeat', '3'],
  ['enabled', 'yes'],
])('%s %j is refused, when it is made and when it is changed', async (field, bad) => {
  const { api, make, get, path } = automations;
  const made = await make();
  const replies = [
    await api.call('POST', path, { body: { ...BODY, [field]: bad } }),
    await api.call('PATCH', `${path}/${made.id}`, { body: { [field]: bad } }),
  ];
  for (const { status, body } of replies) {
    expect([status, body.error, body.message]).toEqual([400, 'validation_error', expect.stringContaining(field)]);
  }
  expect(await get(made)).toEqual(made);
});

it('the largest values are taken, a schedule is required', async () => {
  const { api, make, path } = automations;
  const names = Array.from({ length: 64 }, (_, index) => `skill-${index}`);
  const skills = names.map((name) => ({ name, content: '# Do it' }));
  const agentId = await makeAgent(api, { skills });
  const fields = { name: 'n'.repeat(200), prompt: 'p'.repeat(5000), skills: names, repeat: 1 };
  const made = await make(fields, `/v1/agents/${agentId}/users/anna/automations`);
  expect(made).toMatchObject(fields);
  const reply = await api.call('POST', path, { body: { prompt: 'x' } });
  expect([reply.status, reply.body.message]).toEqual([400, 'schedule: is required']);
});

it.each([
  ['30m', '30m', 1_800_000],
  ['every 90m', 'every 90m', 5_400_000],
])('the schedule %s begins with its creation', async (schedule, normalized, wait) => {
  const before = Date.now();
  const made = await automations.make({ schedule });
  const next = Date.parse(made.nextRunAt ?? '') - wait;
  expect([made.schedule, made.state]).toEqual([normalized, 'scheduled']);
  expect(next).toBeGreaterThanOrEqual(before - 1);
  expect(next).toBeLessThanOrEqual(Date.now());
});

it('a timestamp and a cron expression are UTC', async () => {
  const once = await automations.make({ schedule: '2099-03-01T09:30:00+02:00' });
  expect([once.schedule, once.nextRunAt]).toEqual(['2099-03-01T07:30:00.000Z', '2099-03-01T07:30:00.000Z']);
  const yearly = await automations.make({ schedule: '15 7 1 3 *' });
  expect(yearly.schedule).toBe('15 7 1 3 *');
  expect(yearly.nextRunAt).toMatch(/^\d{4}-03-01T07:15:00\.000Z$/);
  expect(yearly.scheduleDisplay).not.toBe('');
});

it('is enabled again by a change as by resume', async () => {
  const { make, patch } = automations;
  const { id } = await make({ enabled: false });
  const { body } = await patch(id, { enabled: true });
  expect(body).toMatchObject({ state: 'scheduled', enabled: true, nextRunAt: expect.any(String) });
});
