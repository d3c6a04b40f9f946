import { afterAll, beforeAll, expect, test } from 'vitest';
import { NEVER, newTarget, openLocalSandboxes } from '../support/sandbox.ts';
import type { LocalSandboxes } from '../support/sandbox.ts';

let local: LocalSandboxes;
beforeAll(async () => {
  local = await openLocalSandboxes();
});
afterAll(() => local.close());

test('a running sandbox is listed for its organization until it is removed', async () => {
  const { sandboxes } = local;
  const target = newTarget();
  const { organizationId, ...names } = target;
  await sandboxes.acquire(target, NEVER);
  const [found] = await sandboxes.list(organizationId);
  expect(found).toMatchObject({ ...names, phase: 'running', volume: { usedBytes: expect.any(Number) as number } });
  expect(found?.startedAt).toBeInstanceOf(Date);
  expect(await sandboxes.list('another')).toEqual([]);
  await sandboxes.remove(target);
  expect(await sandboxes.list(organizationId)).toEqual([]);
});
