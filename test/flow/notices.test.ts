import { afterAll, beforeAll, expect, it } from 'vitest';
import { allowAll, textOf } from '../support/chat.ts';
import { callTool, readChat, say } from '../support/service-model.ts';
import { startService } from '../support/service.ts';
import type { Service } from '../support/service.ts';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

const background = (command: string) => callTool('terminal', { command, background: true, notify_on_complete: true });

it('a background process that ends starts one turn of an idle session', async () => {
  service.model.play(
    background('while [ ! -e go ]; do sleep 0.05; done; echo made it'),
    say('It runs.'),
    callTool('write_file', { path: 'go', content: '' }),
    say('Told it.'),
    say('It ended.'),
  );
  const chat = await service.api.openChat(await service.api.createAgent({ tools: allowAll }));
  await chat.run('Start.');
  const second = await chat.run('Let it go.');
  const third = await chat.next('session.status_idle');
  expect(third.turnId).not.toBe(second.turnId);
  expect(readChat(service.model.requests[4]!).at(-1)).toMatch(/^user: \[Background process .*made it/s);
  expect((await chat.run('And?')).turnId).not.toBe(third.turnId);
  const events = await chat.list();
  expect(events.filter((event) => event.type === 'session.status_running')).toHaveLength(4);
  expect(events.filter((event) => event.type === 'agent.message').map(textOf)).toEqual([
    'It runs.',
    'Told it.',
    'It ended.',
    'ok',
  ]);
  expect(await chat.session()).toMatchObject({ status: 'idle', queuedCount: 0 });
  chat.close();
});

it('one that ends during a turn is reported after the turn', async () => {
  const gate = Promise.withResolvers<void>();
  service.model.play(
    background('printf "made\\000it"'),
    async () => {
      await gate.promise;
      return say('It runs.');
    },
    say('It ended.'),
  );
  const chat = await service.api.openChat(await service.api.createAgent({ tools: allowAll }));
  await chat.prompt('Start.');
  await service.model.request(1);
  await expect.poll(async () => (await chat.session()).queuedCount).toBe(1);
  gate.resolve();
  await chat.next('session.status_idle');
  await chat.next('session.status_idle');
  expect(readChat(service.model.requests[2]!).at(-1)).toContain('made');
  expect(service.model.requests).toHaveLength(3);
  chat.close();
});
