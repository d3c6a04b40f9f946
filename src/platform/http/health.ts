import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { errorText } from '../errors.ts';
import type { StorageState } from '../storage-floor.ts';
import type { HttpDeps, HttpPorts } from './deps.ts';

const PING_MS = 2000;

type Probe = { ping(): Promise<void> };

async function ping({ log }: HttpPorts, name: string, port: Probe): Promise<[string, 'ok' | 'unavailable']> {
  const timeout = new AbortController();
  try {
    await Promise.race([
      port.ping(),
      sleep(PING_MS, undefined, { signal: timeout.signal, ref: false }).then(() => {
        throw new Error(`no answer within ${PING_MS} ms`);
      }),
    ]);
    return [name, 'ok'];
  } catch (error) {
    log.warn({ backend: name, error: errorText(error) }, 'backend not ready');
    return [name, 'unavailable'];
  } finally {
    timeout.abort();
  }
}

/** What `/readyz` asks besides where sessions are served or run. */
export function listSessionBackends({ sandboxes, objects }: Record<'sandboxes' | 'objects', Probe>) {
  return { sandbox: sandboxes, objects };
}

function describeStorage(storage: StorageState | undefined) {
  if (storage === undefined) return {};
  const { freeBytes, floorBytes, isFull } = storage;
  return { storage: { state: isFull ? 'full' : 'ok', freeBytes, floorBytes } };
}

/** `GET /livez`, `GET /readyz` and `GET /metrics`; open, without a key. */
export function registerHealth(app: FastifyInstance, ports: HttpPorts, { metrics, closing }: HttpDeps): void {
  const backends = {
    database: ports.db,
    bus: ports.bus,
    limits: ports.limits,
    ...ports.backends,
  };
  app.get('/livez', () => ({ status: 'ok' }));
  app.get('/readyz', async (_request, reply) => {
    const checks = await Promise.all(Object.entries(backends).map(([name, port]) => ping(ports, name, port)));
    const ready = !closing.aborted && checks.every(([, state]) => state === 'ok');
    const storage = ports.db.storage?.read();
    // Still ready where the storage is full: reads go on.
    const status = !ready ? 'unavailable' : storage?.isFull === true ? 'storage_full' : 'ok';
    return reply
      .code(ready ? 200 : 503)
      .send({ status, checks: Object.fromEntries(checks), ...describeStorage(storage) });
  });
  app.get('/metrics', async (_request, reply) =>
    reply.type(metrics.registry.contentType).send(await metrics.registry.metrics()),
  );
}
