import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Validator } from '@seriousme/openapi-schema-validator';
import { expect, test } from 'vitest';
import { AGENT_SERVICE_ROUTES, buildAgentsDocument } from '../../../src/agents/contract/document.ts';
import { renderPage } from '../../../src/platform/http/docs/page.ts';

const document = buildAgentsDocument();

test('the document is valid OpenAPI 3.1', async () => {
  const validator = new Validator();
  const { valid, errors } = await validator.validate(structuredClone(document));
  expect(errors).toBeUndefined();
  expect([valid, validator.version]).toEqual([true, '3.1']);
});

test('the validator would notice a fault', async () => {
  const broken = { ...structuredClone(document), paths: { '/x': { get: { parameters: [{ name: 'a' }] } } } };
  expect((await new Validator().validate(broken)).valid).toBe(false);
});

test('every reference leads somewhere, and every operation has a name of its own', () => {
  const text = JSON.stringify(document);
  for (const [, path = ''] of text.matchAll(/"\$ref":"#\/([^"]+)"/g)) {
    const target = path.split('/').reduce<unknown>((at, step) => (at as Record<string, unknown>)[step], document);
    expect({ path, target }).not.toMatchObject({ target: undefined });
  }
  const ids = AGENT_SERVICE_ROUTES.map((route) => route.id);
  expect(new Set(ids).size).toBe(ids.length);
});

test('the committed document is the one that the contract gives', () => {
  const script = fileURLToPath(new URL('../../../scripts/generate.ts', import.meta.url));
  expect(execFileSync(process.execPath, [script, '--check'], { encoding: 'utf8' })).toBe('');
});

test('the page shows every operation and every shape, and loads nothing', () => {
  const page = renderPage(document, '/openapi/agents.json');
  for (const { id } of AGENT_SERVICE_ROUTES) expect(page).toContain(`<article id="${id}">`);
  for (const [, anchor = ''] of page.matchAll(/href="#([^"]+)"/g)) expect(page).toContain(`id="${anchor}"`);
  expect(page).not.toMatch(/<(?:script|link|img|iframe)|(?:src|href)="(?:https?:)?\/\//);
  expect(page).toContain('&quot;Where is my order?&quot;');
});
