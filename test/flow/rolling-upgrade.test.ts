import { Agent, request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { expect, test } from 'vitest';
import { findShared, prepareShared } from '../support/crash/backends.ts';
import { spawnServer } from '../support/crash/server.ts';
import type { ServerProcess } from '../support/crash/server.ts';

const KEY = 'key-of-the-rolling-upgrade';
const ROLLS = 4;
const CLIENTS = 6;
const services = await findShared();

/** As a Service of Kubernetes: a new connection goes to the current server, an open one stays where it is. */
async function openService() {
  const sockets = new Set<Socket>();
  let port = 0;
  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    return socket.on('error', () => {}).on('close', () => sockets.delete(socket));
  };
  const server = createServer((client) => {
    const upstream = keep(connect(port, '127.0.0.1'));
    keep(client).pipe(upstream).pipe(client);
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => client.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    route: (url: string) => void (port = Number(new URL(url).port)),
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

/** A client that keeps its connection and sends the next request as soon as the last one is answered. No retries. */
class Client {
  readonly failures: string[] = [];
  answered = 0;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  readonly #port: number;
  readonly #key: string;
  #isOver = false;

  constructor(port: number, key: string) {
    this.#port = port;
    this.#key = key;
  }

  async run(): Promise<void> {
    for (let count = 0; !this.#isOver; count += 1) {
      const isWrite = count % 10 === 0;
      const body = isWrite
        ? { name: 'Ada', modelName: 'script/demo', systemPrompt: 'x', skills: [], tools: [] }
        : undefined;
      await this.#send(body).then(
        (status) => (status < 300 ? (this.answered += 1) : this.failures.push(String(status))),
        (error: unknown) => this.failures.push(String(error)),
      );
    }
    this.#agent.destroy();
  }

  stop(): void {
    this.#isOver = true;
  }

  async #send(body: object | undefined): Promise<number> {
    const headers = { 'x-api-key': this.#key, 'content-type': 'application/json' };
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const options = { agent: this.#agent, host: '127.0.0.1', port: this.#port, headers };
      const method = body === undefined ? 'GET' : 'POST';
      request({ ...options, path: '/v1/agents', method }, resolve)
        .on('error', reject)
        .end(body === undefined ? undefined : JSON.stringify(body));
    });
    for await (const _ of response);
    return response.statusCode ?? 0;
  }
}

/** A key that allows as many requests as the clients can send. */
async function createKey(url: string): Promise<string> {
  const response = await fetch(`${url}/v1/api-keys`, {
    method: 'POST',
    headers: { 'x-api-key': KEY, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'load', requestsPerMinute: 1_000_000 }),
  });
  const { key } = (await response.json()) as { key: string };
  return key;
}

test.runIf(services)(`an upgrade of the API fails no request, ${ROLLS} times`, async () => {
  const prepared = await prepareShared(services);
  const env = { ...prepared.env, CAPSTAN_API_KEY: KEY, CAPSTAN_SANDBOX_UNWRAPPED: 'i-accept-the-risk' };
  const servers: ServerProcess[] = [];
  const start = async () => {
    const server = spawnServer({ role: 'api', env });
    servers.push(server);
    const ready = await server.ready;
    if (!('url' in ready)) throw new Error(server.output());
    expect((await fetch(`${ready.url}/readyz`)).status).toBe(200);
    return { server, url: ready.url };
  };
  const service = await openService();
  const clients: Client[] = [];
  try {
    let current = await start();
    service.route(current.url);
    const key = await createKey(current.url);
    clients.push(...Array.from({ length: CLIENTS }, () => new Client(service.port, key)));
    const running = clients.map((client) => client.run());
    for (let roll = 0; roll < ROLLS; roll += 1) {
      const answered = clients.map((client) => client.answered);
      const next = await start();
      await expect.poll(() => clients.every((client, index) => client.answered > (answered[index] ?? 0))).toBe(true);
      service.route(next.url);
      current.server.signal('SIGTERM');
      expect(await current.server.ended).toEqual({ code: 0, signal: null });
      current = next;
    }
    for (const client of clients) client.stop();
    await Promise.all(running);
    expect(clients.flatMap(({ failures }) => failures)).toEqual([]);
  } finally {
    for (const client of clients) client.stop();
    service.close();
    for (const server of servers) server.signal('SIGKILL');
    await Promise.all(servers.map(({ ended }) => ended));
    await prepared.close();
  }
});
