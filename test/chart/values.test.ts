import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import type { AnySchema } from 'ajv';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { readConfig } from '../../src/roles/config/config.ts';

const CHART = new URL('../../charts/capstan/', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, CHART), 'utf8');
const schema = JSON.parse(read('values.schema.json')) as AnySchema;
const isValid = new Ajv({ allErrors: true }).compile(schema);

type Values = Record<string, Record<string, unknown>>;
const readValues = (): Values => parse(read('values.yaml')) as Values;

const templates = readdirSync(fileURLToPath(new URL('templates/', CHART)), { recursive: true, encoding: 'utf8' })
  .filter((path) => /\.(yaml|tpl|txt)$/.test(path))
  .map((path) => read(`templates/${path}`))
  .join('\n');

describe('values of the chart', () => {
  test('match their schema', () => {
    expect([isValid(readValues()), isValid.errors]).toEqual([true, null]);
  });

  test.each<[string, (values: Values) => void]>([
    ['an unknown name at the top', (values) => (values['wroker'] = {})],
    ['an unknown name further down', (values) => ((values['api'] as Record<string, unknown>)['replica'] = 3)],
    ['a database that is none', (values) => ((values['postgresql'] as { url: string }).url = 'mysql://db')],
    ['one amount where there are two', (values) => ((values['sandbox'] as { cpu: string }).cpu = '2')],
    ['a setting that the chart gives', (values) => ((values['settings'] as object) = { DATABASE_URL: 'x' })],
    ['a digest that is none', (values) => ((values['image'] as { digest: string }).digest = 'latest')],
    ['no replicas', (values) => ((values['worker'] as { replicas: number }).replicas = 0)],
  ])('with %s are refused', (_, change) => {
    const values = readValues();
    change(values);
    expect(isValid(values)).toBe(false);
  });

  test('are all there for the templates', () => {
    const values = readValues();
    const paths = new Set([...templates.matchAll(/\.Values\.([A-Za-z.0-9]+)/g)].map(([, path = '']) => path));
    expect(paths.size).toBeGreaterThan(10);
    const find = (path: string) =>
      path.split('.').reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined)?.[name], values);
    expect([...paths].filter((path) => find(path) === undefined)).toEqual([]);
  });
});

test('the chart gives no setting that Capstan does not know', () => {
  const names = new Set(templates.match(/CAPSTAN_[A-Z_]+/g));
  // The name that Kubernetes would generate; the templates explain why it is not used.
  expect(names.delete('CAPSTAN_API_SERVICE_HOST')).toBe(true);
  // Variables of the command line only.
  expect(names.delete('CAPSTAN_URL')).toBe(true);
  expect(names.size).toBeGreaterThan(10);
  for (const name of names) expect(() => readConfig({ [name]: '' })).not.toThrow();
  for (const name of ['DATABASE_URL', 'NATS_URL', 'REDIS_URL']) {
    expect(templates).toContain(name);
    expect(() => readConfig({ [name]: 'nonsense' })).toThrow(name);
  }
});

test('the chart installs the definitions of crds/', () => {
  const definitions = new URL('../../crds/', import.meta.url);
  const names = readdirSync(definitions);
  expect(readdirSync(new URL('files/crds/', CHART))).toEqual(names);
  for (const name of names) expect(read(`files/crds/${name}`)).toBe(readFileSync(new URL(name, definitions), 'utf8'));
});

test('metrics are scraped and probes answered on a port that no Service has', () => {
  const deployment = read('templates/_deployment.tpl');
  expect(deployment).toContain('{ name: CAPSTAN_METRICS_PORT, value: "9090" }');
  expect(deployment.match(/httpGet: \{ path: \/\w+, port: (.+?) \},/g)).toHaveLength(3);
  expect(deployment).not.toMatch(/httpGet: .* port: http \}/);
  const role = read('templates/_role.tpl');
  expect(role).toMatch(/targetPort: .*"metrics".*, path: \/metrics/);
  expect(role.match(/targetPort: metrics/)).toBeNull();
});
