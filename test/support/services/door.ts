import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import type { Service } from './process.ts';

/**
 * A way to the server of this address that can be shut: from `pause` to `resume` connections break off and new ones end
 * at once, as while a server restarts. The server itself goes on.
 */
export async function startDoor(address: string): Promise<Service> {
  const target = new URL(address);
  const sockets = new Set<Socket>();
  let isShut = false;
  const keep = (socket: Socket, other: Socket): void => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => {
      sockets.delete(socket);
      other.destroy();
    });
  };
  const server = createServer((from) => {
    if (isShut) return void from.destroy();
    const to = connect(Number(target.port), target.hostname);
    keep(from, to);
    keep(to, from);
    from.pipe(to);
    to.pipe(from);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(address);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: url.href,
    pause() {
      isShut = true;
      cut();
    },
    resume() {
      isShut = false;
    },
    async stop() {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
