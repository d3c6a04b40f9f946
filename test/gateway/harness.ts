import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { openMemoryBus } from '../../src/platform/bus/memory.ts';
import { openMemoryLimits } from '../../src/platform/limits/memory.ts';
import { ModelsConfig, ProvidersConfig } from '../../src/inference/config.ts';
import type { Scope } from '../../src/platform/contract/keys.ts';
import type { GatewayPorts, GatewayTiming } from '../../src/gateway/deps.ts';
import { buildGateway } from '../../src/gateway/server.ts';
import { startHttp } from '../../src/platform/http/start.ts';
import { openInference } from '../../src/inference/inference.ts';
import type { InferenceOptions } from '../../src/inference/inference.ts';
import { createKey } from '../../src/platform/store/keys.ts';
import { openEmbeddedDatabase } from '../support/database.ts';
import { startModelServer } from '../support/model-server/server.ts';
import type { ModelServer } from '../support/model-server/server.ts';

/** One provider per wire format, all served by the same model server. */
export const UPSTREAMS = {
  'chat-completions': 'chat/small',
  messages: 'anth/small',
  responses: 'resp/small',
  'generate-content': 'goog/small',
  converse: 'rock/small',
} as const;
/** The formats of clients. */
export const FORMATS = ['chat-completions', 'messages', 'responses'] as const;
/** Formats of providers whose refusals have no part of their own. */
export const WITHOUT_REFUSALS: readonly string[] = ['messages', 'generate-content', 'converse'];
export const UPSTREAM_FORMATS = [...FORMATS, 'generate-content', 'converse'] as const;

export type TestGateway = {
  /** without a trailing slash */
  url: string;
  key: string;
  upstream: ModelServer;
  ports: GatewayPorts;
  makeKey(options: {
    scopes?: Scope[];
    requestsPerMinute?: number;
    organization?: string;
    models?: string[];
  }): Promise<string>;
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Response>;
  get(path: string, headers?: Record<string, string>): Promise<Response>;
  /** finishes active calls first, like a role that is stopped */
  stop(): Promise<void>;
  close(): Promise<void>;
};

export type TestGatewayOptions = {
  models?: Record<string, unknown>;
  providers?: (url: string) => Record<string, unknown>;
  retry?: InferenceOptions['retry'];
  breaker?: InferenceOptions['breaker'];
  log?: GatewayPorts['log'];
  timing?: GatewayTiming;
  tokensPerDay?: number;
  maxBytesInFlight?: number;
  metrics?: GatewayPorts['metrics'];
};

/** The gateway role behind real HTTP, in front of a test provider that speaks the wire formats. */
export async function startGateway(options: TestGatewayOptions = {}): Promise<TestGateway> {
  const log = options.log ?? pino({ level: 'silent' });
  const database = await openEmbeddedDatabase();
  const bus = openMemoryBus();
  const limits = openMemoryLimits();
  const upstream = await startModelServer();
  const base = { baseUrl: upstream.url, apiKey: 'upstream-secret', timeoutSeconds: 20 };
  const providers = ProvidersConfig.parse({
    chat: { format: 'chat-completions', ...base },
    anth: { format: 'messages', ...base },
    resp: { format: 'responses', ...base },
    goog: { format: 'generate-content', ...base },
    rock: { format: 'converse', ...base },
    blind: { format: 'chat-completions', ...base, models: [{ id: 'small', vision: false, contextWindow: 4000 }] },
    ...options.providers?.(upstream.url),
  });
  const models = ModelsConfig.parse(options.models ?? {});
  const inference = openInference({
    providers,
    models,
    log,
    retry: { baseMs: 1, ...options.retry },
    breaker: options.breaker ?? {},
    affinity: true,
  });
  const ports: GatewayPorts = {
    db: database.db,
    bus,
    limits,
    log,
    inference,
    tokensPerDay: options.tokensPerDay,
    ...(options.maxBytesInFlight === undefined ? {} : { maxBytesInFlight: options.maxBytesInFlight }),
    ...(options.timing === undefined ? {} : { timing: options.timing }),
    ...(options.metrics === undefined ? {} : { metrics: options.metrics }),
  };
  const makeKey: TestGateway['makeKey'] = async ({
    scopes = ['inference'],
    requestsPerMinute = 1_000_000,
    organization = 'default',
    models: allowed,
  }) =>
    (
      await createKey(database.db, {
        name: 'test',
        organization,
        scopes,
        requestsPerMinute,
        ...(allowed === undefined ? {} : { models: allowed }),
      })
    ).key;
  const key = await makeKey({});
  const server = await startHttp(buildGateway(ports), { host: '127.0.0.1', port: 0 });
  const url = server.address;
  return {
    url,
    key,
    upstream,
    ports,
    makeKey,
    post: (path, body, headers = {}) =>
      fetch(url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${key}`, ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    get: (path, headers = { authorization: `Bearer ${key}` }) => fetch(url + path, { headers }),
    stop: () => server.close(),
    async close() {
      await server.close();
      await inference.close();
      await upstream.close();
      await limits.close();
      await bus.close();
      await database.close();
    },
  };
}

export type Frame = { event?: string; data: string };

/** The events of a whole stream, as text. */
export function readFrames(text: string): Frame[] {
  return text
    .split('\n\n')
    .filter((block) => block !== '' && !block.startsWith(':'))
    .map((block) => {
      const lines = block.split('\n');
      const event = lines.find((line) => line.startsWith('event: '))?.slice(7);
      const data = lines.flatMap((line) => (line.startsWith('data: ') ? [line.slice(6)] : [])).join('\n');
      return { ...(event === undefined ? {} : { event }), data };
    });
}

/** A gateway for all tests of a file. For each test its upstream answers "ok", and has no recorded requests. */
export function shareGateway(options: TestGatewayOptions = {}): TestGateway {
  // Complete once the first test begins.
  const gateway = {} as TestGateway;
  beforeAll(async () => {
    Object.assign(gateway, await startGateway(options));
  });
  afterAll(() => gateway.close());
  beforeEach(() => {
    gateway.upstream.requests.length = 0;
    gateway.upstream.script(() => ({}));
  });
  return gateway;
}
