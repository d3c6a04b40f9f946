import { readdirSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newTarget, openLocalSandboxes } from '../support/sandbox.ts';
import type { LocalSandboxes } from '../support/sandbox.ts';

let local: LocalSandboxes;
beforeAll(async () => {
  local = await openLocalSandboxes();
});
afterAll(() => local.close());

test('the volume of one subject is deleted, that of another stays', async () => {
  const { sandboxes } = local;
  const [gone, stays] = ['ada', 'bob'].map((subjectId) => newTarget({ agentId: 'agt_one', subjectId }));
  if (gone === undefined || stays === undefined) throw new Error('two targets');
  const never = new AbortController().signal;
  for (const target of [gone, stays]) {
    await (await sandboxes.acquire(target, never)).writeFile('note', Buffer.from('x'));
  }
  for (let round = 0; round < 2; round += 1) await sandboxes.deleteVolume(gone);
  expect(await sandboxes.describeVolume(gone)).toBeUndefined();
  expect(readdirSync(`${local.dir}/org_1/agt_one`).sort()).toEqual(['bob', 'bob.json']);
  expect(await (await sandboxes.acquire(stays, never)).stat('note')).toMatchObject({ type: 'file' });
  expect(await (await sandboxes.acquire(gone, never)).stat('note')).toBeUndefined();
});

test('a deleted volume is gone, however often it is opened while it goes', async () => {
  for (let round = 0; round < 2; round += 1) {
    const key = newTarget({ agentId: `agt_${round}` });
    const { sandboxes } = local;
    await (await sandboxes.openVolume(key, { create: true }))?.makeDirectory('x', { protect: [], createParents: true });
    const gone = new AbortController();
    const deleted = sandboxes.deleteVolumes(key).finally(() => gone.abort());
    const open = async () => {
      while (!gone.signal.aborted) {
        await sandboxes.openVolume(key, { create: false }).catch(() => undefined);
        await setImmediate();
      }
    };
    await Promise.all([deleted, open(), open()]);
    expect(await sandboxes.openVolume(key, { create: false })).toBeUndefined();
    expect(readdirSync(`${local.dir}/org_1`)).not.toContain(key.agentId);
  }
});
