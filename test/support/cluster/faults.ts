import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Agent, request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { openKubernetes } from '../../../src/platform/kubernetes/client.ts';
import type { Kubernetes } from '../../../src/platform/kubernetes/client.ts';
import { makeScratch } from '../scratch.ts';
import { readKubeconfig } from './stand-ins.ts';

/** Faults so far, by kind. */
export type FaultCounts = Record<
  'refused' | 'throttled' | 'broken' | 'unsent' | 'unanswered' | 'watchCut' | 'watchExpired',
  number
>;

export type FaultProxy = {
  /** a connection to the API server through the proxy */
  kubernetes: Kubernetes;
  counts: FaultCounts;
  /** from now on, this fraction of requests gets a fault */
  disturb(part: number): void;
  /** simulates a restart of the API server: connections are reset and refused until `restore` */
  cut(): void;
  restore(): void;
  close(): Promise<void>;
};

const TEXT = { 'content-type': 'application/json' };
const buildStatus = (code: number, reason: string) =>
  JSON.stringify({
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    code,
    reason,
    message: `${reason}, by the test`,
  });

/**
 * A proxy between one client and the real API server that injects faults of real networks: too many requests, errors,
 * connections reset before or after a write, watches that are cut or too old.
 */
export async function startFaultProxy(kubeconfig: string, random: () => number): Promise<FaultProxy> {
  const { server: target, token, ca } = readKubeconfig(kubeconfig);
  const agent = new Agent({ keepAlive: true, ca });
  const counts: FaultCounts = {
    refused: 0,
    throttled: 0,
    broken: 0,
    unsent: 0,
    unanswered: 0,
    watchCut: 0,
    watchExpired: 0,
  };
  const watches = new Set<ServerResponse>();
  let part = 0;
  let isCut = false;

  const forward = (from: IncomingMessage, to: ServerResponse, then: (answer: IncomingMessage) => void): void => {
    const headers = { ...from.headers, authorization: `Bearer ${token}`, host: new URL(target).host };
    const onward = request(`${target}${from.url ?? '/'}`, { method: from.method, headers, agent }, then);
    onward.on('error', () => to.destroy());
    to.on('close', () => onward.destroy());
    from.pipe(onward);
  };
  const pass = (to: ServerResponse) => (answer: IncomingMessage) => {
    if (to.headersSent || to.destroyed) return void answer.destroy();
    to.writeHead(answer.statusCode ?? 500, answer.headers);
    answer.pipe(to);
    answer.on('error', () => to.destroy());
  };

  const disturbWatch = (from: IncomingMessage, to: ServerResponse): void => {
    if (random() < 0.2) {
      counts.watchExpired += 1;
      to.writeHead(410, TEXT).end(buildStatus(410, 'Expired'));
      return;
    }
    const timer = setTimeout(
      () => {
        counts.watchCut += 1;
        // Within a line, or after an event that says that the version is too old.
        if (random() < 0.5) to.write(`{"type":"ERROR","object":${buildStatus(410, 'Expired')}}\n`);
        to.destroy();
      },
      20 + random() * 1500,
    );
    to.on('close', () => clearTimeout(timer));
    forward(from, to, pass(to));
  };

  const disturb = (from: IncomingMessage, to: ServerResponse): void => {
    const dice = random();
    if (dice < 0.25) {
      counts.throttled += 1;
      to.writeHead(429, { ...TEXT, 'retry-after': '1' }).end(buildStatus(429, 'TooManyRequests'));
    } else if (dice < 0.5) {
      counts.broken += 1;
      to.writeHead(500, TEXT).end(buildStatus(500, 'InternalError'));
    } else if (dice < 0.75) {
      counts.unsent += 1;
      from.socket.destroy();
    } else {
      // It is done, and the response is lost.
      forward(from, to, (answer) => {
        counts.unanswered += 1;
        answer.resume();
        answer.on('end', () => from.socket.destroy());
      });
    }
  };

  const server = createServer((from, to) => {
    to.on('error', () => undefined);
    if (isCut) {
      counts.refused += 1;
      from.socket.destroy();
      return;
    }
    const isWatch = (from.url ?? '').includes('watch=true');
    if (isWatch) {
      watches.add(to);
      to.on('close', () => watches.delete(to));
    }
    if (part > 0 && isWatch) return disturbWatch(from, to);
    if (random() < part) return disturb(from, to);
    forward(from, to, pass(to));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const path = join(makeScratch('faults'), 'kubeconfig');
  const own = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'test',
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'admin' } }],
    clusters: [{ name: 'test', cluster: { server: `http://127.0.0.1:${port}`, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'admin', user: {} }],
  };
  writeFileSync(path, JSON.stringify(own));
  const kubernetes = await openKubernetes({ kubeconfig: path });
  return {
    kubernetes,
    counts,
    disturb(next) {
      part = next;
      // Watches that began in the quiet phase would outlast the test.
      for (const watch of watches) watch.destroy();
    },
    cut() {
      isCut = true;
      server.closeAllConnections();
    },
    restore() {
      isCut = false;
    },
    async close() {
      await kubernetes.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      agent.destroy();
    },
  };
}
