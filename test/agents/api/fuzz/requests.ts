import { fc } from '../../../support/property.ts';
import type { Document, Operation, Parameter } from '../../../../src/platform/http/docs/document.ts';
import { FILE_PATHS, breakValue, junk, makeValid, markIdentifier } from './values.ts';

export type FuzzRequest = {
  operationId: string;
  method: string;
  /** with placeholders for identifiers */
  path: string;
  headers: Record<string, string>;
  payload: string | undefined;
  key: 'own' | 'other' | 'none' | 'unknown';
};

const RAW_BODIES = [
  '{"metadata":'.repeat(20_000),
  `{"metadata":${'['.repeat(20_000)}${']'.repeat(20_000)}}`,
  '',
  '{',
  'null',
  '"x"',
  '[]',
  '7',
  '{"a":1e400}',
  '{"__proto__":{"a":1}}',
  '{"a":"\\ud800"}',
  '\u0000',
  '\ufeff{}',
];

/** Valid header values: everything that the parser accepts. */
const headerText = fc.string({
  unit: fc.integer({ min: 32, max: 255 }).map((code) => String.fromCharCode(code)),
  maxLength: 60,
});

const headers = fc.record(
  {
    'x-request-id': headerText,
    accept: fc.oneof(fc.constantFrom('*/*', 'text/event-stream', 'application/json'), headerText),
    'idempotency-key': headerText,
    'last-event-id': headerText,
    'content-type': fc.oneof(
      fc.constantFrom(
        'application/json',
        'application/json; charset=utf-8',
        'APPLICATION/JSON',
        'text/plain',
        'multipart/form-data',
      ),
      headerText,
    ),
    'content-encoding': fc.constant('identity'),
    origin: headerText,
  },
  { requiredKeys: [] },
);

const segment = fc.oneof(
  fc.constantFrom('%00', '%2F', '%2e%2e', '%zz', '%ff', '..', '.', ' ', '*', ':x', '%20', '%0a', 'x'.repeat(300), '😀'),
  fc.string({ unit: 'grapheme', maxLength: 30 }).map(encodeURIComponent),
);

function makeParameter(parameter: Parameter, document: Document): fc.Arbitrary<string> {
  const { name, schema } = parameter;
  if (name.endsWith('Id') && name !== 'subjectId') return markIdentifier(name);
  if (name === 'version') return fc.constantFrom('0', '1', '999');
  if (name === 'tagName') return fc.constantFrom('dev', 'next', 'a');
  if (name === 'subjectId') return fc.constantFrom('anna', 'bob', encodeURIComponent('木'));
  if (name === 'path') return fc.constantFrom(...FILE_PATHS).map(encodeURIComponent);
  if (name === 'serverName') return fc.constantFrom('tools', 'none');
  if (name === 'tool') return fc.constantFrom('terminal', 'web_search');
  return makeValid(document.components.schemas, schema).map((value) => encodeURIComponent(String(value)));
}

function makePath(path: string, operation: Operation, document: Document): fc.Arbitrary<string> {
  const parameters = (operation.parameters ?? []).filter((parameter) => parameter.in === 'path');
  const values = parameters.map((parameter) =>
    fc.oneof({ weight: 5, arbitrary: makeParameter(parameter, document) }, { weight: 1, arbitrary: segment }),
  );
  return fc
    .tuple(...values)
    .map((texts) =>
      parameters.reduce((left, { name }, index) => left.replace(`{${name}}`, () => texts[index] ?? ''), path),
    );
}

function makeQuery(operation: Operation, document: Document): fc.Arbitrary<string> {
  const parameters = (operation.parameters ?? []).filter((parameter) => parameter.in === 'query');
  const items = parameters.map((parameter) =>
    fc.oneof(
      { weight: 6, arbitrary: fc.constant('') },
      { weight: 3, arbitrary: makeParameter(parameter, document).map((value) => `${parameter.name}=${value}`) },
      { weight: 1, arbitrary: segment.map((value) => `${parameter.name}=${value}&${parameter.name}[a]=1`) },
    ),
  );
  return fc.tuple(...items).map((texts) => texts.filter((text) => text !== '').join('&'));
}

function makeBody(operation: Operation, document: Document): fc.Arbitrary<string | undefined> {
  const schema = operation.requestBody?.content['application/json']?.schema;
  const raw = fc.constantFrom(...RAW_BODIES);
  if (schema === undefined)
    return fc.oneof({ weight: 9, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: raw });
  const valid = makeValid(document.components.schemas, schema);
  const broken = fc
    .tuple(valid, fc.array(fc.nat(30), { minLength: 1, maxLength: 5 }), junk)
    .map(([value, where, bad]) => JSON.stringify(breakValue(value, where, bad)));
  return fc.oneof(
    { weight: 5, arbitrary: valid.map((value) => JSON.stringify(value)) },
    { weight: 6, arbitrary: broken },
    { weight: 1, arbitrary: junk.map((value) => JSON.stringify(value)) },
    { weight: 1, arbitrary: raw },
  );
}

/** Valid and broken requests for every operation in the document, or for the named one. */
export function makeRequests(document: Document, only?: string): fc.Arbitrary<FuzzRequest> {
  const each = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({
      id: operation.operationId,
      requests: fc
        .record({
          target: makePath(path, operation, document),
          query: makeQuery(operation, document),
          payload: makeBody(operation, document),
          extra: fc.oneof({ weight: 3, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: headers }),
          key: fc.oneof(
            { weight: 20, arbitrary: fc.constant('own' as const) },
            { weight: 1, arbitrary: fc.constantFrom('other' as const, 'none' as const, 'unknown' as const) },
          ),
        })
        .map(({ target, query, payload, extra, key }) => ({
          operationId: operation.operationId,
          method: method.toUpperCase(),
          path: query === '' ? target : `${target}?${query}`,
          headers: { ...(payload === undefined ? {} : { 'content-type': 'application/json' }), ...extra } as Record<
            string,
            string
          >,
          payload,
          key,
        })),
    })),
  );
  return fc.oneof(...each.filter(({ id }) => only === undefined || id === only).map(({ requests }) => requests));
}
