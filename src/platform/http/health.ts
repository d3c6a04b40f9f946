import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { errorText, errors } from '../errors.ts';
import type { StorageState } from '../storage-floor.ts';
import { isLoopback } from './client-address.ts';
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

/**
 * Who sees metrics and the state of each backend: `all` callers; `local` ones, whose connection and request come from this
 * machine; or `none`.
 */
export type DetailAudience = 'all' | 'local' | 'none';

const PROXY_HEADERS = ['forwarded', 'via', 'x-forwarded-for', 'x-real-ip'];

/** A request that a proxy on this machine passes on is not local. */
function isLocal({ headers, socket }: FastifyRequest): boolean {
  if (PROXY_HEADERS.some((name) => headers[name] !== undefined)) return false;
  return isLoopback(socket.remoteAddress ?? '');
}

/** `GET /livez`, `GET /readyz` and `GET /metrics`; open, without a key. Others than `audience` see a state without details. */
export function registerHealth(
  app: FastifyInstance,
  ports: HttpPorts,
  { metrics, closing }: Pick<HttpDeps, 'metrics' | 'closing'>,
  audience: DetailAudience,
): void {
  const seesDetails = (request: FastifyRequest) => audience === 'all' || (audience === 'local' && isLocal(request));
  const backends = {
    database: ports.db,
    bus: ports.bus,
    limits: ports.limits,
    ...ports.backends,
  };
  app.get('/livez', () => ({ status: 'ok' }));
  app.get('/readyz', async (request, reply) => {
    const checks = await Promise.all(Object.entries(backends).map(([name, port]) => ping(ports, name, port)));
    const ready = !closing.aborted && checks.every(([, state]) => state === 'ok');
    const storage = ports.db.storage?.read();
    // Still ready where the storage is full: reads go on.
    const status = !ready ? 'unavailable' : storage?.isFull === true ? 'storage_full' : 'ok';
    const details = { checks: Object.fromEntries(checks), ...describeStorage(storage) };
    return reply.code(ready ? 200 : 503).send({ status, ...(seesDetails(request) ? details : {}) });
  });
  if (audience === 'none') return;
  app.get('/metrics', async (request, reply) => {
    if (!seesDetails(request)) {
      throw errors.forbidden('Metrics are for callers on this machine; CAPSTAN_METRICS_PORT serves them to others.');
    }
    return reply.type(metrics.registry.contentType).send(await metrics.registry.metrics());
  });
}
