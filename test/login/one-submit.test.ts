import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { page } from '../support/login-sites/server.ts';
import { byPassword, startTestLogin } from './harness.ts';
import type { TestLogin } from './harness.ts';

/** Faults in the answer to the submit that make a browser send it again. */
type Ending = 'stray-bytes' | 'broken-body' | 'no-answer' | 'no-http';

/** Ends the answer to a submit with a fault; false for a complete answer. */
function breakOff(socket: Socket, ending: Ending): boolean {
  if (ending === 'no-answer') socket.destroy();
  if (ending === 'no-http') socket.end('no HTTP at all\r\n\r\n');
  if (ending === 'broken-body')
    socket.end('HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 5000\r\n\r\n');
  return ending !== 'stray-bytes';
}

/**
 * A server whose answer to the submit ends like this. With stray bytes, all answers do, as on sites that print pages
 * twice.
 */
async function startUntidySite(ending: Ending) {
  const posts: string[] = [];
  const answer = (head: string, body: string) =>
    `HTTP/1.1 ${head}\r\ncontent-type: text/html\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`;
  const server = createServer((socket) => {
    let text = '';
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      text += chunk.toString();
      const [head = '', body = ''] = text.split('\r\n\r\n');
      const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
      if (!text.includes('\r\n\r\n') || body.length < length) return;
      const isPost = head.startsWith('POST');
      if (isPost) posts.push(body);
      const isIn = /sid=0123456789/.test(head);
      const form = `<h1>Sign in</h1><form method="post" action="/login"><input name="username"><input type="password" name="password"><button>Sign in</button></form>`;
      const shown = isIn ? '<h1>Hello</h1><a href="/logout">Log out</a>' : form;
      const whole = isPost
        ? answer('303 See Other\r\nset-cookie: sid=0123456789; Path=/\r\nlocation: /account', '')
        : answer('200 OK', page('Site', shown));
      if (isPost && breakOff(socket, ending)) return;
      socket.end(ending === 'stray-bytes' ? `${whole}stray bytes behind the answer` : whole);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/login`,
    posts,
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}

let login: TestLogin;

beforeAll(async () => {
  login = await startTestLogin();
});
afterAll(() => login.close());

test('bytes behind a whole answer do not make the browser send the password again', async () => {
  const site = await startUntidySite('stray-bytes');
  onTestFinished(site.close);
  const { status, body } = await login.post('/api/login', byPassword(site.url, 'ada', 'correct horse'));
  expect([status, body['error'], body['details']]).toEqual([200, undefined, undefined]);
  expect(site.posts).toHaveLength(1);
});

test.each(['broken-body', 'no-answer', 'no-http'] as const)(
  'an answer that ends in a fault does not make the browser send the password again: %s',
  async (ending) => {
    const site = await startUntidySite(ending);
    onTestFinished(site.close);
    const { status } = await login.post('/api/login', byPassword(site.url, 'ada', 'correct horse'));
    expect(status).toBeGreaterThanOrEqual(400);
    expect(site.posts).toHaveLength(1);
  },
);
