import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, test } from 'vitest';
import { buildServerDocument, joinDocuments } from '../../src/platform/http/docs/join.ts';
import { SERVICE_DOCUMENTS } from '../../src/roles/documents.ts';
import { renderPage } from '../../src/platform/http/docs/page.ts';

type Operation = { operationId: string; security?: unknown[] };
type Document = Record<string, unknown> & {
  tags: { name: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, unknown> };
};

const listOperations = ({ paths }: Document) => Object.values(paths).flatMap((item) => Object.values(item));
const buildDocument = (
  path: string,
  tag: string,
  security: unknown[] = [{ bearer: [] }],
  schema: object = {},
): Document => ({
  openapi: '3.1.0',
  info: { title: tag, version: '1' },
  security,
  tags: [{ name: tag }],
  paths: { [path]: { get: { operationId: tag } } },
  components: { schemas: { Shape: schema } },
});

test.each(Object.entries(SERVICE_DOCUMENTS))(
  'the document of the service %s is valid OpenAPI 3.1',
  async (_, build) => {
    const { valid, errors } = await new Validator().validate(structuredClone(build()));
    expect([valid, errors]).toEqual([true, undefined]);
  },
);

describe('the document of all services', () => {
  const whole = buildServerDocument(SERVICE_DOCUMENTS) as Document;
  const all = Object.values(SERVICE_DOCUMENTS).map((build) => build() as Document);

  test('is valid, and loses nothing', async () => {
    const { valid, errors } = await new Validator().validate(structuredClone(whole));
    expect([valid, errors]).toEqual([true, undefined]);
    const ids = (document: Document) => listOperations(document).map(({ operationId }) => operationId);
    expect(ids(whole).sort()).toEqual(all.flatMap(ids).sort());
    expect(new Set(ids(whole)).size).toBe(ids(whole).length);
    expect(whole.tags.map(({ name }) => name)).toEqual(all.flatMap(({ tags }) => tags.map(({ name }) => name)));
    expect(Object.keys(whole.components.schemas).sort()).toEqual(
      [...new Set(all.flatMap(({ components }) => Object.keys(components.schemas)))].sort(),
    );
  });

  test('says of every operation what is refused before it', () => {
    const responses = (operation: Operation) => (operation as unknown as { responses: object }).responses;
    expect(listOperations(whole).filter((operation) => !('431' in responses(operation)))).toEqual([]);
  });

  test('is a page that shows every operation, and whose links lead somewhere', () => {
    const page = renderPage(whole, '/openapi.json');
    for (const { operationId } of listOperations(whole)) expect(page).toContain(`<article id="${operationId}">`);
    const anchors = [...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
    expect(new Set(anchors).size).toBe(anchors.length);
    for (const [, anchor = ''] of page.matchAll(/href="#([^"]+)"/g)) expect(anchors).toContain(anchor);
  });
});

test('documents that contradict each other do not join', () => {
  const one = buildDocument('/a', 'One');
  expect(() => joinDocuments('All', [one, buildDocument('/a', 'Two')])).toThrow('path /a');
  expect(() => joinDocuments('All', [one, buildDocument('/b', 'One')])).toThrow('tag One');
  expect(() => joinDocuments('All', [one, buildDocument('/b', 'Two', undefined, { type: 'string' })])).toThrow('Shape');
  expect(() => joinDocuments('All', [])).toThrow('No service');
});

test('operations keep the security of their own document', () => {
  const joined = joinDocuments('All', [
    buildDocument('/a', 'One'),
    buildDocument('/b', 'Two', [{ other: [] }]),
    {
      ...buildDocument('/c', 'Three', []),
      paths: { '/c': { get: { operationId: 'Three', security: [{ own: [] }] } } },
    },
  ]) as Document;
  expect(listOperations(joined).map(({ security }) => security)).toEqual([undefined, [{ other: [] }], [{ own: [] }]]);
});
