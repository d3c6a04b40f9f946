import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Bounds } from './bounds.ts';
import { clientNetwork } from './client-address.ts';

/**
 * Bounds the connections of a server. A connection is idle until a request has arrived and again after its answer; one
 * that has carried an accepted key never counts as idle. So behind a proxy, which is one address, only connections that
 * nobody uses are closed.
 */
export function limitConnections(
  server: Server,
  { connections, idleConnectionsPerAddress }: Pick<Bounds, 'connections' | 'idleConnectionsPerAddress'>,
): { accept(socket: Socket): void } {
  server.maxConnections = connections;
  /** Idle connections by network, the longest idle first. */
  const idle = new Map<string, Set<Socket>>();
  const networks = new WeakMap<Socket, string>();
  const accepted = new WeakSet<Socket>();

  function removeIdle(socket: Socket): void {
    const network = networks.get(socket) ?? '';
    const sockets = idle.get(network);
    if (sockets === undefined) return;
    sockets.delete(socket);
    if (sockets.size === 0) idle.delete(network);
  }

  function addIdle(socket: Socket): void {
    if (socket.destroyed || accepted.has(socket)) return;
    const network = networks.get(socket) ?? clientNetwork(socket.remoteAddress);
    networks.set(socket, network);
    const sockets = idle.get(network) ?? new Set();
    idle.set(network, sockets);
    sockets.add(socket);
    if (sockets.size <= idleConnectionsPerAddress) return;
    const [oldest] = sockets;
    oldest?.destroy();
    if (oldest !== undefined) removeIdle(oldest);
  }

  server.on('connection', (socket: Socket) => {
    addIdle(socket);
    socket.once('close', () => removeIdle(socket));
  });
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    removeIdle(socket);
    response.once('close', () => addIdle(socket));
  });
  return {
    accept(socket) {
      accepted.add(socket);
      removeIdle(socket);
    },
  };
}
