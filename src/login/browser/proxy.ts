import { createServer, request as httpRequest } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Egress } from '../../platform/egress/egress.ts';
import { EgressError } from '../../platform/egress/error.ts';
import { joinTunnel } from './tunnel.ts';
import type { Owed } from './tunnel.ts';

/** The network access of one job's browser context. */
export type JobProxy = {
  /** `http://127.0.0.1:<port>` */
  url: string;
  /** `host:port` of each rejected target, in order, without duplicates */
  refused: readonly string[];
  /** the last connection error of each target, by `host:port` */
  faults: ReadonlyMap<string, EgressError>;
  /** Says what a target, `host:port`, owes the browser; until it is set, nothing. */
  watchSubmits(readOwed: (target: string) => Owed): void;
  close(): Promise<void>;
};

/** Hop-by-hop headers: they apply only between the browser and the proxy. */
const HOP_BY_HOP = ['proxy-connection', 'proxy-authorization', 'connection', 'keep-alive', 'te', 'trailer', 'upgrade'];
/** Methods that a browser may safely repeat. */
const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);
const CONNECT_TIMEOUT_MS = 10_000;

/** `raw`: names and values alternating, as in Node.js. */
function dropHopByHop(raw: readonly string[]): string[] {
  return raw.filter((_text, at) => !HOP_BY_HOP.includes(raw[at - (at % 2)]?.toLowerCase() ?? ''));
}

type Target = { host: string; port: number };

function readAuthority(text: string): Target | undefined {
  const url = URL.parse(`http://${text}`);
  if (url === null || url.pathname !== '/' || url.username !== '') return undefined;
  // A URL without a port has the default port.
  return { host: url.hostname.replace(/^\[(.*)\]$/, '$1'), port: url.port === '' ? 80 : Number(url.port) };
}

/** Connects to the addresses that the egress guard has checked, in order, and to no others. */
async function dial(egress: Egress, { host, port }: Target): Promise<Socket> {
  const addresses = await egress.resolve(host, port);
  let fault: unknown;
  for (const { address, family } of addresses) {
    try {
      return await openSocket(address, family, port);
    } catch (error) {
      fault = error;
    }
  }
  throw new EgressError('unreachable', `${host}:${port} could not be reached.`, fault);
}

function openSocket(address: string, family: number, port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: address, family, port, timeout: CONNECT_TIMEOUT_MS, noDelay: true });
    socket.once('connect', () => {
      socket.setTimeout(0);
      socket.removeAllListeners('timeout');
      socket.removeListener('error', reject);
      resolve(socket);
    });
    socket.once('timeout', () => socket.destroy(new Error('no connection in time')));
    socket.once('error', reject);
  });
}

/**
 * Forwards an answer. Rejects if it fails before the first byte is forwarded. If it fails later, the browser sees it
 * fail, too.
 */
function passAnswer(answer: IncomingMessage, request: IncomingMessage, response: ServerResponse): Promise<void> {
  return new Promise((_resolve, reject) => {
    const pass = () => {
      response.writeHead(answer.statusCode ?? 502, answer.statusMessage, dropHopByHop(answer.rawHeaders));
      answer.pipe(response);
    };
    // A browser sends its form again when a connection ends without a byte, so the head is not forwarded before the
    // body begins.
    if (SAFE_METHODS.has(request.method ?? '')) pass();
    else answer.once('readable', pass);
    answer.once('error', (error) => {
      if (answer.complete) return;
      if (response.headersSent) response.destroy();
      else reject(error);
    });
  });
}

/** On a free port of loopback. */
function listen(server: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
}

/**
 * A forward proxy for one job, on a free loopback port. It resolves and checks each target, and connects to the very
 * address that was checked, so neither redirects, frames, sockets, workers nor DNS rebinding get
 * past the guard. Closing it closes all connections.
 */
export async function openJobProxy(egress: Egress): Promise<JobProxy> {
  const sockets = new Set<Duplex>();
  const refused: string[] = [];
  const faults = new Map<string, EgressError>();
  let readOwed: (target: string) => Owed = () => 'nothing';

  const keep = <T extends Duplex>(socket: T): T => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    // A failed connection closes its peer; no other code needs to know.
    socket.on('error', () => socket.destroy());
    return socket;
  };
  const note = (target: Target, error: unknown): EgressError => {
    const fault = error instanceof EgressError ? error : new EgressError('unreachable', 'unreachable', error);
    const name = `${target.host}:${target.port}`;
    if (fault.code === 'refused' && !refused.includes(name)) refused.push(name);
    faults.set(name, fault);
    return fault;
  };
  const open = async (target: Target): Promise<Socket> => {
    try {
      return keep(await dial(egress, target));
    } catch (error) {
      throw note(target, error);
    }
  };
  const statusOf = (fault: unknown) =>
    fault instanceof EgressError && fault.code === 'refused' ? '403 Forbidden' : '502 Bad Gateway';

  const tunnel = async (request: IncomingMessage, client: Duplex, head: Buffer) => {
    const target = readAuthority(request.url ?? '');
    if (target === undefined) return client.end('HTTP/1.1 400 Bad Request\r\n\r\n');
    try {
      const upstream = await open(target);
      if (client.destroyed) return upstream.destroy();
      client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      if (head.length > 0) upstream.write(head);
      joinTunnel(client, upstream, () => readOwed(`${target.host}:${target.port}`));
    } catch (fault) {
      client.end(`HTTP/1.1 ${statusOf(fault)}\r\nconnection: close\r\n\r\n`);
    }
  };

  const forward = async (request: IncomingMessage, response: ServerResponse) => {
    const url = URL.parse(request.url ?? '');
    const target = url?.protocol === 'http:' ? readAuthority(url.host) : undefined;
    if (url === null || target === undefined) return response.writeHead(400).end();
    try {
      const socket = await open(target);
      const upstream = httpRequest({
        createConnection: () => socket,
        method: request.method ?? 'GET',
        path: url.pathname + url.search,
        headers: [...dropHopByHop(request.rawHeaders), 'connection', 'close'],
        setHost: false,
      });
      let received: IncomingMessage | undefined;
      const fail = (error: unknown) => {
        note(target, error);
        if (response.headersSent) response.destroy();
        else response.writeHead(502).end();
      };
      upstream.on('response', (answer) => {
        received = answer;
        passAnswer(answer, request, response).catch(fail);
      });
      upstream.once('error', (error) => {
        // Ignores bytes after a complete answer: reporting them would make the browser send its form again.
        if (received?.complete !== true) fail(error);
      });
      response.once('close', () => upstream.destroy());
      request.pipe(upstream);
    } catch (fault) {
      response.writeHead(Number(statusOf(fault).slice(0, 3))).end();
    }
  };

  const server = createServer((request, response) => void forward(request, response));
  server.on('connection', keep);
  server.on('connect', (request, client, head) => void tunnel(request, client, head));
  // Browsers open WebSockets by CONNECT, so a plain upgrade is never legitimate.
  server.on('upgrade', (_request, client) => client.destroy());
  server.on('clientError', (_error, client) => client.destroy());
  await listen(server);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    refused,
    faults,
    watchSubmits: (read) => {
      readOwed = read;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
