import { pino } from 'pino';
import { Registry } from 'prom-client';
import { openMemoryBus } from '../../src/platform/bus/memory.ts';
import { openMemoryLimits } from '../../src/platform/limits/memory.ts';
import type { Scope } from '../../src/platform/contract/keys.ts';
import { DEFAULT_LOGIN_METHODS } from '../../src/login/contract/shapes.ts';
import type { LoginMethod } from '../../src/login/contract/shapes.ts';
import { openEgress } from '../../src/platform/egress/egress.ts';
import type { EgressOptions } from '../../src/platform/egress/egress.ts';
import { startHttp } from '../../src/platform/http/start.ts';
import { findChromium } from '../../src/login/browser/chromium.ts';
import { openFleet } from '../../src/login/browser/fleet.ts';
import type { FleetOptions } from '../../src/login/browser/fleet.ts';
import type { LoginPorts } from '../../src/login/deps.ts';
import { buildFormReader } from '../../src/login/form-reader.ts';
import type { FallbackPorts } from '../../src/login/form-reader.ts';
import { openLoginMetrics } from '../../src/login/metrics.ts';
import { buildLogin } from '../../src/login/server.ts';
import { buildMasterKeys } from '../../src/platform/master-key.ts';
import { createKey } from '../../src/platform/store/keys.ts';
import { openEmbeddedDatabase } from '../support/database.ts';
import { MASTER_KEY } from '../support/vaults.ts';

export type TestLoginOptions = {
  methods?: readonly LoginMethod[];
  egress?: Partial<EgressOptions>;
  fleet?: Partial<FleetOptions>;
  ports?: Partial<LoginPorts>;
  /** the model that is asked about forms; default: none */
  fallback?: Pick<FallbackPorts, 'inference' | 'model'>;
};

export type TestLogin = Awaited<ReturnType<typeof startTestLogin>>;

/** The response to a call. */
export type Answer = { status: number; headers: Headers; body: Record<string, unknown> };

/** The path of the tests' browser. Throws if there is none, because these tests need one. */
export function getChromium(): string {
  const program = findChromium(process.env['CAPSTAN_CHROMIUM'], process.env['PATH'] ?? '');
  if (program === undefined) throw new Error('Chromium is not installed: scripts/install-test-services.sh installs it');
  return program;
}

/** The login role behind real HTTP, with real browsers, allowed to reach sites of this machine. */
export async function startTestLogin(options: TestLoginOptions = {}) {
  const log = options.ports?.log ?? pino({ level: process.env['CAPSTAN_LOG_LEVEL'] ?? 'silent' });
  const database = await openEmbeddedDatabase();
  const { db } = database;
  const bus = openMemoryBus();
  const limits = openMemoryLimits();
  const egress = openEgress({ allow: ['127.0.0.0/8'], ...options.egress });
  const fleet = openFleet(
    { egress, log },
    { program: getChromium(), noSandbox: process.getuid?.() === 0, maxJobs: 10, warm: false, ...options.fleet },
  );
  const masterKeys = buildMasterKeys(MASTER_KEY);
  const methods = options.methods ?? [...DEFAULT_LOGIN_METHODS, 'otp_sms'];
  const registry = new Registry();
  const loginMetrics = openLoginMetrics(registry, fleet);
  const { fallback } = options;
  const readForm = fallback && buildFormReader({ ...fallback, log, count: loginMetrics.countModelCall });
  const own = { db, bus, limits, log, registry, egress, fleet, masterKeys, methods, loginMetrics, readForm };
  const ports: LoginPorts = { ...own, ...options.ports };
  const server = await startHttp(buildLogin(ports), { host: '127.0.0.1', port: 0 });
  const makeKey = async (organization = 'default', scopes: Scope[] = ['login']) =>
    (await createKey(db, { name: 'test', organization, scopes, requestsPerMinute: 1_000_000 })).key;
  const key = await makeKey();
  const call = async (method: string, path: string, body?: unknown, ownKey = key): Promise<Answer> => {
    const response = await fetch(server.address + path, {
      method,
      headers: {
        authorization: `Bearer ${ownKey}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, headers: response.headers, body: (await response.json()) as Answer['body'] };
  };
  return {
    url: server.address,
    key,
    ports,
    fleet,
    db,
    makeKey,
    call,
    post: (path: string, body: unknown, ownKey?: string) => call('POST', path, body, ownKey),
    /** As on SIGTERM, before the browsers and backends close. */
    stop: () => server.close(),
    async close() {
      await server.close();
      await fleet.close();
      await egress.close();
      await limits.close();
      await bus.close();
      await database.close();
    },
  };
}

/** The body of a password login. */
export function byPassword(domain: string, username: string | undefined, password: string, more: object = {}) {
  return { domain, loginMethod: 'password', cred: { username, password }, ...more };
}

/** A page of the site, requested with only the cookies of a session. */
export function replay(url: string, { cookies }: { cookies: { name: string; value: string }[] }): Promise<Response> {
  const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
  return fetch(url, { redirect: 'manual', headers: { cookie } });
}
