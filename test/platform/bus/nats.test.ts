import { connect } from 'nats';
import { describe, expect, it } from 'vitest';

import { openNats } from '../../../src/platform/bus/nats.ts';
import { findService } from '../../support/find-service.ts';
import { startNats } from '../../support/services/nats.ts';
import { findFreePort } from '../../support/services/process.ts';

const installed = (await findService('nats')) !== undefined;

describe.skipIf(!installed)('the bus while NATS is away', () => {
  it('drops sent messages, rejects all else, and reconnects with its subscriptions', async () => {
    const port = await findFreePort();
    const url = `nats://127.0.0.1:${port}`;
    const first = await startNats({ port });
    const bus = await openNats({ url });
    const heard: unknown[] = [];
    await bus.subscribe('news', ({ data }) => heard.push(data));

    await first?.stop();
    await expect
      .poll(() =>
        bus.ping().then(
          () => 'up',
          () => 'down',
        ),
      )
      .toBe('down');
    bus.send('news', 'lost');
    await expect(bus.publish('capstan.events.o.s', 1, 'id')).rejects.toThrow('NATS cannot be reached');
    await expect(bus.subscribe('other', () => {})).rejects.toThrow('NATS cannot be reached');
    await expect(bus.replay('capstan.events.o.s', new Date(0))).rejects.toThrow('NATS cannot be reached');

    const second = await startNats({ port });
    await expect
      .poll(() =>
        bus.ping().then(
          () => 'up',
          () => 'down',
        ),
      )
      .toBe('up');
    bus.send('news', 'found');
    await expect.poll(() => heard).toEqual(['found']);
    await bus.close();
    await second?.stop();
  });

  it('says at the start that there is none', async () => {
    await expect(openNats({ url: 'nats://127.0.0.1:9' })).rejects.toThrow('NATS cannot be reached');
  });

  it('keeps published messages across a restart, and updates an older stream', async () => {
    const service = await startNats();
    const first = await openNats({ url: service?.url ?? '' });
    await first.publish('capstan.events.o.s', 1, 'id');
    await first.close();
    const admin = await connect({ servers: service?.url ?? '' });
    const { streams } = await admin.jetstreamManager();
    await streams.update('CAPSTAN_EVENTS', { max_msgs_per_subject: 7 });
    const second = await openNats({ url: service?.url ?? '' });
    expect(await second.replay('capstan.events.o.s', new Date(0))).toEqual([
      { subject: 'capstan.events.o.s', data: 1 },
    ]);
    expect((await streams.info('CAPSTAN_EVENTS')).config.max_msgs_per_subject).toBe(5_000);
    await admin.close();
    await second.close();
    await service?.stop();
  });

  it('forgets the oldest messages of a full stream, and takes new ones', async () => {
    const service = await startNats();
    const bus = await openNats({ url: service?.url ?? '', maxBytes: 64 * 1024 });
    const text = 'x'.repeat(1024);
    for (let number = 0; number < 200; number += 1)
      await bus.publish('capstan.events.o.s', { number, text }, `id-${number}`);
    const kept = (await bus.replay('capstan.events.o.s', new Date(0))).map(
      ({ data }) => (data as { number: number }).number,
    );
    expect(kept.at(-1)).toBe(199);
    expect(kept).toEqual(kept.map((_, index) => 200 - kept.length + index));
    expect(kept.length).toBeGreaterThan(10);
    expect(kept.length).toBeLessThan(64);
    await bus.close();
    await service?.stop();
  });
});
