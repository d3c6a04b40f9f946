import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findShared, prepareShared } from '../support/crash/backends.ts';
import { spawnServer } from '../support/crash/server.ts';
import type { ServerProcess } from '../support/crash/server.ts';

const services = await findShared();

describe.runIf(services)('the role worker', () => {
  let prepared: Awaited<ReturnType<typeof prepareShared>>;
  let server: ServerProcess;
  let url: string;
  beforeAll(async () => {
    prepared = await prepareShared(services);
    server = spawnServer({ role: 'worker', env: { ...prepared.env, CAPSTAN_SANDBOX_UNWRAPPED: 'i-accept-the-risk' } });
    const ready = await server.ready;
    if (!('url' in ready)) throw new Error(server.output());
    url = ready.url;
  });
  afterAll(async () => {
    server?.signal('SIGTERM');
    await server?.ended;
    await prepared?.close();
  });

  test('serves health and metrics, and nothing else', async () => {
    expect(await (await fetch(`${url}/livez`)).json()).toEqual({ status: 'ok' });
    const checks = { database: 'ok', bus: 'ok', limits: 'ok', sandbox: 'ok', objects: 'ok' };
    expect(await (await fetch(`${url}/readyz`)).json()).toEqual({ status: 'ok', checks });
    const metrics = await (await fetch(`${url}/metrics`)).text();
    expect(metrics).toContain('capstan_worker_sessions 0');
    expect(metrics).toContain('capstan_worker_passes_total{result="failed"} 0');
    expect(metrics).toContain('capstan_backlog_sessions 0');
    expect(metrics).toContain('capstan_webhook_deliveries_pending 0');
    expect(metrics).toContain('capstan_budgets_reached{on_reached="pause"} 0');
    expect(metrics).toContain('capstan_backlog_oldest_seconds 0');
    expect((await fetch(`${url}/v1/agents`)).status).toBe(404);
  });

  test('ends at SIGTERM', async () => {
    server.signal('SIGTERM');
    expect(await server.ended).toEqual({ code: 0, signal: null });
  });
});
