import { expect, test } from 'vitest';
import { buildServer } from '../../../src/agents/api/server.ts';
import { buildChange } from '../../../src/platform/bus/change.ts';
import { openMemoryBus } from '../../../src/platform/bus/memory.ts';
import { SCOPES } from '../../../src/platform/contract/keys.ts';
import { createKey } from '../../../src/platform/store/keys.ts';
import { openTestBackends } from '../../support/backends.ts';

test('this process hears of a change before `send` returns, and others over the bus', async () => {
  const bus = openMemoryBus();
  const change = buildChange<{ id: string }>('capstan.test');
  const heard: string[] = [];
  const elsewhere = Promise.withResolvers<unknown>();
  await bus.subscribe('capstan.test', ({ data }) => elsewhere.resolve(data));
  const subscription = await change.subscribe(bus, ({ id }) => heard.push(id));
  change.send(bus, { id: 'a' });
  expect(heard).toEqual(['a']);
  expect(await elsewhere.promise).toEqual({ id: 'a' });
  subscription.close();
  change.send(bus, { id: 'b' });
  expect(heard).not.toContain('b');
});

test('a revoked or rotated key stops at the answer, however slow the bus is', async () => {
  const backends = await openTestBackends();
  const app = buildServer({ ...backends, bus: { ...backends.bus, send: () => undefined } });
  await app.ready();
  const make = (name: string) => createKey(backends.db, { name, organization: 'default', scopes: [...SCOPES] });
  const [admin, rotated, revoked] = [await make('admin'), await make('rotated'), await make('revoked')];
  const statusOf = async (key: string) =>
    (await app.inject({ url: '/v1/me', headers: { 'x-api-key': key } })).statusCode;
  expect([await statusOf(rotated.key), await statusOf(revoked.key)]).toEqual([200, 200]);
  const headers = { 'x-api-key': admin.key };
  const send = async (method: 'POST' | 'DELETE', url: string, payload?: object) =>
    (await app.inject({ method, url, headers, ...(payload && { payload }) })).statusCode;
  expect(await send('POST', `/v1/api-keys/${rotated.id}/rotate`, { gracePeriodSeconds: 0 })).toBe(200);
  expect(await statusOf(rotated.key)).toBe(401);
  expect(await send('DELETE', `/v1/api-keys/${revoked.id}`)).toBe(200);
  expect(await statusOf(revoked.key)).toBe(401);
  await app.close();
  await backends.close();
});
