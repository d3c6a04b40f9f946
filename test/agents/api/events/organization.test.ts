import { afterAll, beforeAll, expect, test } from 'vitest';
import { onServerSent } from '../../../support/server-sent.ts';
import type { ServerSent } from '../../../support/server-sent.ts';
import { startService } from '../../../support/service.ts';
import type { Service } from '../../../support/service.ts';
import { say } from '../../../support/service-model.ts';

type Data = {
  id: string;
  type: string;
  sessionId: string;
  sequence: number;
  subjectId: string;
  session: { status: string; openActions: number };
};

let service: Service;
const open: ServerSent<Data>[] = [];
beforeAll(async () => {
  service = await startService();
});
afterAll(async () => {
  for (const stream of open) stream.close();
  await service.close();
});

async function follow(query = '', lastEventId?: string): Promise<ServerSent<Data>> {
  const headers = lastEventId === undefined ? {} : { 'last-event-id': lastEventId };
  const url = `${service.api.url}/v1/events/stream?${query}`;
  const stream = await onServerSent<Data>(url, { 'x-api-key': service.key, ...headers });
  open.push(stream);
  return stream;
}

test('events of all sessions come in order, without content, and a stream resumes where it was', async () => {
  const stream = await follow();
  service.model.play(say('A secret.'), say('Another one.'));
  const [first, second] = [await service.api.openChat(), await service.api.openChat()];
  await first.run('one');
  await second.run('two');
  const ids = [(await first.session()).id, (await second.session()).id];
  const isDone = () =>
    ids.every((id) => stream.frames.some(({ data }) => data.sessionId === id && data.type === 'session.status_idle'));
  await stream.until(isDone);
  for (const id of ids) {
    const own = stream.frames.filter(({ data }) => data.sessionId === id && data.sequence <= 4);
    expect(own.map(({ data }) => data.sequence)).toEqual([1, 2, 3, 4]);
    expect(own.map(({ event }) => event)).toEqual(own.map(({ data }) => data.type));
    expect(own.at(-1)?.data.session).toMatchObject({ openActions: 0 });
  }
  expect(JSON.stringify(stream.frames)).not.toContain('secret');

  stream.close();
  const again = await follow('', stream.frames[1]?.id);
  await again.until(() => again.frames.length >= stream.frames.length - 2);
  expect(again.frames.slice(0, stream.frames.length - 2)).toEqual(stream.frames.slice(2));
  first.close();
  second.close();
});

test('a stream that cannot resume gets a reset; filters apply', async () => {
  const lost = await follow('', 'elsewhere.3');
  await lost.until(() => lost.frames.length > 0);
  expect(lost.frames[0]).toMatchObject({ event: 'reset', data: {} });
  const chosen = await follow('types=session.status_idle,user.message');
  const others = await follow('subjectId=nobody');
  service.model.play(say('Hello.'));
  const chat = await service.api.openChat();
  await chat.run('one');
  await chosen.until(() => chosen.frames.length >= 2);
  expect(chosen.frames.map(({ event }) => event)).toEqual(['user.message', 'session.status_idle']);
  expect(others.frames).toEqual([]);
  chat.close();
});
