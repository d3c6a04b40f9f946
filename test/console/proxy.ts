import { createServer, request } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

export type Proxy = {
  /** with the path that the proxy adds */
  url: string;
  /** Where requests go from now on. */
  setTarget(url: string): void;
  /** Breaks every connection and refuses new ones until `restore`. */
  cut(): void;
  restore(): void;
  close(): Promise<void>;
};

/** A reverse proxy that removes a path before it passes a request on. */
export async function openProxy(path: string): Promise<Proxy> {
  let target = '';
  let isCut = false;
  const sockets = new Set<Socket>();
  const server = createServer((incoming, outgoing) => {
    const own = incoming.url ?? '/';
    if (!own.startsWith(path)) return void outgoing.writeHead(404).end();
    const { method, headers } = incoming;
    const passed = request(`${target}${own.slice(path.length)}`, { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
      answer.once('error', () => outgoing.destroy());
    });
    passed.once('error', () => outgoing.destroy());
    outgoing.once('close', () => passed.destroy());
    incoming.pipe(passed);
  });
  server.on('connection', (socket) => {
    if (isCut) return void socket.destroy();
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const drop = () => sockets.forEach((socket) => socket.destroy());
  return {
    url: `http://127.0.0.1:${port}${path}`,
    setTarget: (url) => (target = url),
    cut() {
      isCut = true;
      drop();
    },
    restore: () => (isCut = false),
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      drop();
      await closed;
    },
  };
}
