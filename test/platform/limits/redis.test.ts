import { describe, expect, it } from 'vitest';

import { LimitsUnavailableError } from '../../../src/platform/limits/limits.ts';
import { openRedis } from '../../../src/platform/limits/redis.ts';
import { findService } from '../../support/find-service.ts';
import { findFreePort } from '../../support/services/process.ts';
import { startRedis } from '../../support/services/redis.ts';

const installed = (await findService('redis')) !== undefined;

describe.skipIf(!installed)('limits while Redis is away', () => {
  it('are unavailable, and come back by themselves', async () => {
    const port = await findFreePort();
    const first = await startRedis({ port });
    const limits = await openRedis({ url: `redis://127.0.0.1:${port}` });
    const take = () => limits.take('key', 1, 1_000, 60_000);
    expect((await take()).remaining).toBe(999);

    await first?.stop();
    await expect(take()).rejects.toBeInstanceOf(LimitsUnavailableError);
    await expect(limits.refund('key', 1)).rejects.toBeInstanceOf(LimitsUnavailableError);
    await expect(limits.ping()).rejects.toBeInstanceOf(LimitsUnavailableError);

    const second = await startRedis({ port });
    await expect
      .poll(() =>
        take().then(
          ({ allowed }) => allowed,
          () => 'away',
        ),
      )
      .toBe(true);
    await limits.close();
    await second?.stop();
  });

  it('are unavailable when a paused server does not answer', async () => {
    const service = await startRedis();
    const limits = await openRedis({ url: service?.url ?? '' });
    service?.pause();
    await expect(limits.take('key', 1, 1, 1_000)).rejects.toBeInstanceOf(LimitsUnavailableError);
    await limits.close();
    await service?.stop();
  });

  it('say at the start that there is none', async () => {
    await expect(openRedis({ url: 'redis://127.0.0.1:9' })).rejects.toBeInstanceOf(LimitsUnavailableError);
  });
});
