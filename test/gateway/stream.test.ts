import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { openClientStream } from '../../src/gateway/stream.ts';

it('the first frame leaves at once, whatever is done with the events that came with it', async () => {
  const waiting: (number | undefined)[] = [];
  const server = createServer((_request, response) => {
    const { signal } = new AbortController();
    const stream = openClientStream(response, { headers: () => ({}), keepalive: ': ping\n\n', signal });
    void stream.write('data: 1\n\n');
    // Still in the same turn of the event loop as the write of the frame.
    waiting.push(response.socket?.writableLength);
    stream.end('data: 2\n\n');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    expect(await answer.text()).toBe('data: 1\n\ndata: 2\n\n');
    expect(waiting).toEqual([0]);
  } finally {
    server.close();
  }
});
