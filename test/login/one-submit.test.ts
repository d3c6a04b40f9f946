import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { page } from '../support/login-sites/server.ts';
import { byPassword, startTestLogin } from './harness.ts';
import type { TestLogin } from './harness.ts';

/** A server that sends bytes behind each whole answer, as some do whose pages are printed twice. */
async function startUntidySite() {
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
      socket.write(`${whole}stray bytes behind the answer`);
      socket.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/login`, posts, close: () => new Promise((resolve) => server.close(resolve)) };
}

let site: Awaited<ReturnType<typeof startUntidySite>>;
let login: TestLogin;

beforeAll(async () => {
  site = await startUntidySite();
  login = await startTestLogin();
});
afterAll(async () => {
  await login.close();
  await site.close();
});

test('bytes behind a whole answer do not make the browser send the password again', async () => {
  const { status, body } = await login.post('/api/login', byPassword(site.url, 'ada', 'correct horse'));
  expect([status, body['error'], body['details']]).toEqual([200, undefined, undefined]);
  expect(site.posts).toHaveLength(1);
});
