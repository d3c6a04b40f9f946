import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { WireFormat } from '../../src/inference/config.ts';
import { textOf, typesOf } from '../support/chat.ts';
import { TITLE_USAGE, say } from '../support/service-model.ts';
import { startService } from '../support/service.ts';
import type { Service } from '../support/service.ts';

describe.each<WireFormat>(['chat-completions', 'messages', 'responses'])('a turn over %s', (format) => {
  let service: Service;
  beforeAll(async () => {
    service = await startService({ format });
  });
  afterAll(() => service.close());

  it('goes from the prompt over its deltas to the message and to idle with usage', async () => {
    const answer = 'The quick brown fox jumps over the lazy dog. '.repeat(40);
    const usage = { input: 50, output: 20, cacheRead: 30, cacheWrite: 0, reasoning: 0 };
    service.model.play({ ...say(answer, { usage }), chunkBytes: 500, gapMs: 2 });
    const chat = await service.api.openChat();
    const sent = await chat.prompt('Tell me.');
    expect(sent.status).toBe(200);
    expect(sent.body.data).toMatchObject([{ type: 'user.message', status: 'received', processedAt: null }]);
    const idle = await chat.next('session.status_idle');

    const deltas = chat.frames.filter((frame) => frame.payload['delta'] === true);
    const final = chat.frames.find((frame) => frame.payload['delta'] === false);
    expect(deltas.length).toBeGreaterThan(1);
    expect(new Set(deltas.map((delta) => delta.id))).toEqual(new Set([final?.id]));
    const joined = deltas.map(textOf).join('');
    expect(joined.length).toBeGreaterThan(answer.length / 2);
    expect(textOf(final).startsWith(joined)).toBe(true);
    expect(textOf(final)).toBe(answer);

    const events = await chat.list();
    expect(typesOf(events)).toEqual(['user.message', 'session.status_running', 'agent.message', 'session.status_idle']);
    expect(events.map((event) => event.sequence)).toEqual([1, 2, 3, 4]);
    expect(new Set(events.map((event) => event.turnId)).size).toBe(1);
    expect(events[0]).toMatchObject({ status: 'processed', processedAt: expect.any(String) });
    expect(idle.payload['stop_reason']).toEqual({ type: 'end_turn' });
    expect(idle.usage).toEqual(idle.payload['usage']);
    expect(idle.usage).toMatchObject({
      model: 'acme/small',
      input: 50,
      output: 20,
      cache_read: 30,
      total: 70,
      calls: 1,
      context_used: 70,
      context_max: 32_000,
      cost_status: 'estimated',
    });
    // 20 uncached tokens at 1, 30 cached at 0.1, 20 written at 10 dollars per million
    expect(idle.usage?.cost_usd).toBeCloseTo((20 + 3 + 200) / 1_000_000, 12);
    const session = await chat.session();
    expect(session).toMatchObject({ status: 'idle', title: 'Test', usage: { input: 50, output: 20, calls: 1 } });
    expect(session.usage?.latency_ms).toBe(session.usage?.last_turn_latency_ms);
    chat.close();
  });

  it('is summed over turns, without a cost for models without a price', async () => {
    service.model.play(say('one'), say('two'));
    const chat = await service.api.openChat(await service.api.createAgent({ modelName: 'acme/free' }));
    await chat.run('1');
    const idle = await chat.run('2');
    expect(idle.usage).toMatchObject({ input: 10, output: 5, calls: 1, cost_status: 'unknown' });
    const { usage } = await chat.session();
    expect(usage).toMatchObject({ input: 20, output: 10, total: 30, calls: 2, cost_status: 'unknown' });
    expect(usage).not.toHaveProperty('cost_usd');
    chat.close();
  });

  it('is followed by a title that counts into the usage of the session', async () => {
    service.model.play(say('Hello.'));
    service.model.title = '"The greeting"';
    const chat = await service.api.openChat(undefined, { title: undefined });
    expect((await chat.session()).title).toBeNull();
    await chat.run('Hi');
    const titled = await chat.next('session.title_updated');
    expect(titled.payload).toEqual({ type: 'session.title_updated', title: 'The greeting' });
    const session = await chat.session();
    expect(session).toMatchObject({
      title: 'The greeting',
      usage: { input: 10 + TITLE_USAGE.input, output: 5 + TITLE_USAGE.output, calls: 2 },
    });
    await chat.run('And again');
    expect(service.model.titles).toHaveLength(1);
    expect(typesOf(await chat.list()).filter((type) => type === 'session.title_updated')).toHaveLength(1);
    chat.close();
  });

  it('is not followed by a title where one was given', async () => {
    service.model.play(say('Hello.'));
    const chat = await service.api.openChat();
    await chat.run('Hi');
    await chat.run('Hi again');
    expect(service.model.titles).toEqual([]);
    expect((await chat.session()).title).toBe('Test');
    chat.close();
  });
});
