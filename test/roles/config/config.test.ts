import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readConfig } from '../../../src/roles/config/config.ts';
import { StartupError } from '../../../src/platform/errors.ts';

let dir: string;
let count = 0;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'config-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function writeFile(text: string): string {
  const path = join(dir, `${(count += 1)}.yaml`);
  writeFileSync(path, text);
  return path;
}

const PROVIDER = 'providers:\n  acme:\n    format: messages\n    baseUrl: http://127.0.0.1:9/v1\n';

describe('settings', () => {
  it('have the documented defaults', () => {
    expect(readConfig({})).toMatchObject({
      host: '127.0.0.1',
      port: 8080,
      dataDir: join(process.cwd(), 'data'),
      sandbox: 'process',
      sandboxNetwork: 'none',
      customToolTimeoutMs: 300_000,
      egressAllow: [],
    });
  });

  it.each([
    ['CAPSTAN_PROT', '1'],
    ['CAPSTAN_PORT', 'http'],
    ['CAPSTAN_PORT', '70000'],
    ['CAPSTAN_SANDBOX', 'docker'],
    ['CAPSTAN_SANDBOX_NETWORK', 'all'],
    ['CAPSTAN_SANDBOX_UNWRAPPED', 'yes'],
    ['CAPSTAN_MASTER_KEY', 'c2hvcnQ='],
    ['CAPSTAN_API_KEY', 'with space'],
    ['CAPSTAN_CUSTOM_TOOL_TIMEOUT', '0'],
    ['CAPSTAN_LOG_LEVEL', 'loud'],
    ['CAPSTAN_OBJECTS', 'file:///tmp'],
    ['DATABASE_URL', 'mysql://localhost/x'],
    ['NATS_URL', 'localhost:4222'],
    ['REDIS_URL', 'localhost'],
    ['CAPSTAN_CONFIG', '/no/such/file.yaml'],
  ])('refuse %s=%s with an error that names it', (name, value) => {
    const read = () => readConfig({ [name]: value });
    expect(read).toThrow(StartupError);
    expect(read).toThrow(name);
  });

  it('do not quote the rejected value', () => {
    expect(() => readConfig({ CAPSTAN_API_KEY: 'secret words here' })).not.toThrow(/secret words/);
  });

  it('treat an empty value as absent', () => {
    expect(readConfig({ DATABASE_URL: '', CAPSTAN_PORT: '' })).toMatchObject({ databaseUrl: undefined, port: 8080 });
  });

  it('switch on the providers of the two well-known keys', () => {
    const { providers } = readConfig({
      OPENAI_API_KEY: 'one',
      ANTHROPIC_API_KEY: 'two',
      ANTHROPIC_BASE_URL: 'http://127.0.0.1:9',
    });
    expect(providers['openai']).toMatchObject({ format: 'chat-completions', apiKey: 'one' });
    expect(providers['anthropic']).toMatchObject({
      format: 'messages',
      baseUrl: 'http://127.0.0.1:9/v1',
      apiKey: 'two',
    });
    expect(readConfig({}).providers).toEqual({});
  });

  it('name a collector of metrics by the usual variables', () => {
    expect(readConfig({}).otel).toBeUndefined();
    expect(readConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318/' }).otel).toEqual({
      url: 'http://c:4318/v1/metrics',
      intervalMs: 60_000,
      serviceName: 'capstan-gateway',
    });
    const whole = {
      OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'http://c/m',
      OTEL_METRIC_EXPORT_INTERVAL: '500',
      OTEL_SERVICE_NAME: 'g',
    };
    expect(readConfig(whole).otel).toEqual({ url: 'http://c/m', intervalMs: 500, serviceName: 'g' });
    expect(() => readConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: 'nowhere' })).toThrow('OTEL_EXPORTER_OTLP_ENDPOINT');
  });

  it('name a gateway for the workers, with its key', () => {
    const url = 'http://gateway:8080';
    expect(readConfig({ CAPSTAN_GATEWAY_URL: url, CAPSTAN_GATEWAY_KEY: 'k' }).gateway).toEqual({
      baseUrl: `${url}/v1`,
      apiKey: 'k',
    });
    expect(readConfig({}).gateway).toBeUndefined();
    expect(() => readConfig({ CAPSTAN_GATEWAY_URL: url })).toThrow('CAPSTAN_GATEWAY_KEY');
    expect(() => readConfig({ CAPSTAN_GATEWAY_URL: 'ftp://x', CAPSTAN_GATEWAY_KEY: 'k' })).toThrow(
      'CAPSTAN_GATEWAY_URL',
    );
  });
});

it('a sandbox pod reserves 128 MiB of scratch, and never more than its limit', () => {
  const pods = (env: Record<string, string>) => {
    const { requests, limits } = readConfig(env).sandboxPod;
    return [requests['ephemeral-storage'], limits['ephemeral-storage']];
  };
  expect(pods({})).toEqual(['128Mi', '2Gi']);
  expect(pods({ CAPSTAN_SANDBOX_SCRATCH_REQUEST: '1Gi' })).toEqual(['1Gi', '2Gi']);
  expect(pods({ CAPSTAN_SANDBOX_SCRATCH: '65536Ki' })).toEqual(['65536Ki', '65536Ki']);
});

describe('capstan.yaml', () => {
  const read = (text: string, env: Record<string, string> = {}) =>
    readConfig({ ...env, CAPSTAN_CONFIG: writeFile(text) });

  it('takes the key of a provider from the variable that it names', () => {
    const text = `${PROVIDER}    apiKeyEnv: ACME_KEY\n`;
    expect(read(text, { ACME_KEY: 'three' }).providers['acme']).toMatchObject({ apiKey: 'three', timeoutSeconds: 600 });
    expect(() => read(text)).toThrow(/acme.*ACME_KEY/);
  });

  it('needs keys only for the roles that use them', () => {
    const text = `${PROVIDER}    apiKeyEnv: ACME_KEY
video: { engines: { acme: { type: openai-videos, baseUrl: 'https://x.test/v1', apiKeyEnv: VIDEO_KEY } } }
webSearch: { backend: brave, apiKeyEnv: SEARCH_KEY }
`;
    const missing = (role: string, more = '') => {
      try {
        return readConfig({ CAPSTAN_CONFIG: writeFile(text + more) }, role).models && 'none';
      } catch (error) {
        return /from (\w+)/.exec(String(error))?.[1] ?? String(error);
      }
    };
    expect(['api', 'gateway', 'worker', 'video', 'login', 'operator', 'all'].map((role) => missing(role))).toEqual([
      'none',
      'ACME_KEY',
      'ACME_KEY',
      'VIDEO_KEY',
      'none',
      'none',
      'ACME_KEY',
    ]);
    expect(missing('login', 'login: { fallbackModel: acme/x }\n')).toBe('ACME_KEY');
  });

  it.each([
    ['an unknown field', `${PROVIDER}    bseUrl: x\n`, 'providers.acme'],
    ['an unknown section', 'provider: {}\n', 'unknown fields'],
    ['an unknown format', PROVIDER.replace('messages', 'soap'), 'providers.acme.format'],
    ['a negative price', `${PROVIDER}    models: [{ id: a, price: { input: -1, output: 0 } }]\n`, 'price.input'],
    ['text that is not YAML', 'providers: [', 'not YAML'],
  ])('refuses %s and says where', (_, text, where) => {
    expect(() => read(text)).toThrow(StartupError);
    expect(() => read(text)).toThrow(where);
  });
});

describe('the search backend', () => {
  const read = (section: string, env: Record<string, string> = {}) =>
    readConfig({ CAPSTAN_CONFIG: writeFile(`webSearch: ${section}\n`), ...env }).webSearch;

  it('takes its key from the file or from the named variable', () => {
    expect(readConfig({}).webSearch).toBeUndefined();
    expect(read('{ backend: brave, apiKey: one }')).toEqual({ backend: 'brave', apiKey: 'one' });
    const named = read('{ backend: tavily, apiKeyEnv: SEARCH_KEY }', { SEARCH_KEY: 'two' });
    expect(named).toMatchObject({ backend: 'tavily', apiKey: 'two' });
    const local = { backend: 'searxng', baseUrl: 'http://127.0.0.1:8888' } as const;
    expect(read(JSON.stringify(local))).toEqual(local);
  });

  it.each([
    ['{ backend: google }', 'webSearch.backend'],
    ['{ backend: searxng }', 'webSearch.baseUrl'],
    ['{ backend: brave }', 'webSearch.apiKeyEnv'],
    ['{ backend: brave, apiKey: one, apiKeyEnv: SEARCH_KEY }', 'webSearch.apiKeyEnv'],
    ['{ backend: tavily, apiKeyEnv: SEARCH_KEY }', 'SEARCH_KEY, which is not set'],
    ['{ backend: searxng, baseUrl: "ftp://x" }', 'webSearch.baseUrl'],
  ])('%s is an error that names %s', (section, expected) => {
    expect(() => read(section)).toThrow(expected);
  });
});
