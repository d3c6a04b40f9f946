import { afterEach, expect, it, vi } from 'vitest';

import { findService } from './find-service.ts';

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

it('says why a service is missing, and fails where nothing may be skipped', async () => {
  const print = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  vi.stubEnv('CAPSTAN_REQUIRE_ALL', '');
  expect(await findService('nothing')).toBeUndefined();
  expect(print).toHaveBeenCalledWith(expect.stringContaining('Skipped what needs nothing'));
  vi.stubEnv('CAPSTAN_REQUIRE_ALL', '1');
  await expect(findService('nothing')).rejects.toThrow('is not installed');
});
