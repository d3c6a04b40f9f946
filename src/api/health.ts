import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { errorText } from '../errors.ts';
import type { ApiDeps } from './deps.ts';

const PING_MS = 2000;

async function ping(
  deps: ApiDeps,
  name: string,
  port: { ping(): Promise<void> },
): Promise<[string, 'ok' | 'unavailable']> {
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
    deps.log.warn({ backend: name, error: errorText(error) }, 'backend not ready');
    return [name, 'unavailable'];
  } finally {
    timeout.abort();
  }
}

/** `GET /livez`, `GET /readyz` and `GET /metrics`; open, without a key. */
export function registerHealth(app: FastifyInstance, deps: ApiDeps): void {
  const backends = {
    database: deps.db,
    bus: deps.bus,
    limits: deps.limits,
    sandbox: deps.sandboxes,
    ...(deps.objects === undefined ? {} : { objects: deps.objects }),
  };
  app.get('/livez', () => ({ status: 'ok' }));
  app.get('/readyz', async (_request, reply) => {
    const checks = await Promise.all(Object.entries(backends).map(([name, port]) => ping(deps, name, port)));
    const ready = !deps.closing.aborted && checks.every(([, state]) => state === 'ok');
    return reply
      .code(ready ? 200 : 503)
      .send({ status: ready ? 'ok' : 'unavailable', checks: Object.fromEntries(checks) });
  });
  app.get('/metrics', async (_request, reply) =>
    reply.type(deps.metrics.registry.contentType).send(await deps.metrics.registry.metrics()),
  );
}
