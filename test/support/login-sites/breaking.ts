import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createSecureServer as createHttp2Server } from 'node:http2';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { makeCertificate } from '../certificate.ts';
import { page } from './server.ts';

/** How a connection ends after a password was posted. */
export type Ending = 'reset' | 'close' | 'goodbye' | 'head' | 'half-body' | 'whole';
export const PROTOCOLS = ['http', 'https', 'http2'] as const;
export type Protocol = (typeof PROTOCOLS)[number];
/** How the password is sent. `again`: by a script that repeats what has failed. */
export type Sender = 'form' | 'script' | 'again';

type Asked = IncomingMessage | Http2ServerRequest;
type Answering = ServerResponse | Http2ServerResponse;

const FORM = `<h1>Sign in</h1><form method="post" action="/login"><input name="username"><input type="password" name="password"><button>Sign in</button></form>`;
const SEND = `const send = () => fetch('/login', { method: 'POST', body: new URLSearchParams(new FormData(form)) })
  .then((answer) => answer.text()).then(() => { location.href = '/account' });`;
const SCRIPTS: Readonly<Record<Sender, string>> = {
  form: '',
  script: `<script>const form = document.forms[0]; ${SEND}
    form.onsubmit = (event) => { event.preventDefault(); send().catch(() => undefined) }</script>`,
  again: `<script>const form = document.forms[0]; ${SEND}
    const insist = (left) => send().catch(() => left > 0 && insist(left - 1));
    form.onsubmit = (event) => { event.preventDefault(); insist(5) }</script>`,
};

type Answer = { status: number; headers?: Record<string, string>; body?: string };

function answerWhole(response: Answering, { status, headers = {}, body = '' }: Answer): void {
  const own = response as ServerResponse;
  own.writeHead(status, { 'content-type': 'text/html', ...headers });
  own.end(body);
}

type Connection = { raw: Socket; /** says goodbye before the end */ leave: () => void };

/** Begins an answer to the submit, then ends its connection. */
function breakOff(ending: Ending, response: Answering, { raw, leave }: Connection): void {
  if (ending === 'reset') return void raw.resetAndDestroy();
  if (ending === 'close') return void raw.destroy();
  if (ending === 'goodbye') return leave();
  const own = response as ServerResponse;
  own.writeHead(200, { 'content-type': 'text/html', 'content-length': '5000' });
  own.write(ending === 'head' ? '\n' : '<!doctype html><title>Hello</title><h1>Hello</h1><p>Half of it</p>', () =>
    raw.destroy(),
  );
}

function openServer(protocol: Protocol, serve: (request: Asked, response: Answering) => void) {
  if (protocol === 'http') return createServer(serve);
  const certificate = makeCertificate();
  return protocol === 'https' ? createHttpsServer(certificate, serve) : createHttp2Server(certificate, serve);
}

/** A site that breaks off its answer to a submit. Its connections are kept until then. */
export async function startBreakingSite(protocol: Protocol, sender: Sender, ending: Ending) {
  const posts: string[] = [];
  const connections = new Map<number, Socket>();
  const find = (request: Asked): Connection => {
    const { session } = (request as Http2ServerRequest).stream ?? {};
    const socket = session?.socket ?? request.socket;
    const raw = connections.get(socket.remotePort ?? 0);
    if (raw === undefined) throw new Error('a request without a connection');
    return { raw, leave: () => (session === undefined ? socket.end() : session.destroy()) };
  };
  const serve = async (request: Asked, response: Answering): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request as IncomingMessage) chunks.push(chunk as Buffer);
    const isIn = (request.headers.cookie ?? '').includes('sid=0123456789');
    if (request.method === 'POST') {
      posts.push(Buffer.concat(chunks).toString());
      if (ending !== 'whole') return breakOff(ending, response, find(request));
      const headers = { 'set-cookie': 'sid=0123456789; Path=/', location: '/account' };
      return answerWhole(response, { status: 303, headers });
    }
    const body = isIn ? '<h1>Hello</h1><a href="/logout">Log out</a>' : FORM + SCRIPTS[sender];
    answerWhole(response, { status: 200, body: page('Site', body) });
  };
  const server = openServer(protocol, (request, response) => void serve(request, response));
  server.on('connection', (socket: Socket) => {
    const port = socket.remotePort ?? 0;
    connections.set(port, socket);
    socket.on('error', () => undefined);
    socket.once('close', () => connections.delete(port));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `${protocol === 'http' ? 'http' : 'https'}://127.0.0.1:${port}/login`,
    posts,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        for (const socket of connections.values()) socket.destroy();
      }),
  };
}
