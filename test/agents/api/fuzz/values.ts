import { fc } from '../../../support/property.ts';
import type { Schema } from '../../../../src/platform/http/docs/document.ts';

/** A value that the fuzz run chooses when it sends: an identifier that exists by then. */
export function markIdentifier(kind: string): fc.Arbitrary<string> {
  return fc.nat(1000).map((index) => `@${kind}:${index}`);
}

/** Few, so that requests find resources of other requests. */
export const FILE_PATHS = ['a.txt', 'b.txt', '/d', 'd/c.txt', 'd/木'] as const;
const filePath = fc.constantFrom(...FILE_PATHS);

/** Fields with rules that the schema cannot express. */
const KNOWN: Record<string, fc.Arbitrary<unknown>> = {
  agentId: markIdentifier('agentId'),
  path: filePath,
  from: filePath,
  to: filePath,
  encoding: fc.constant('utf-8'),
  modelName: fc.constantFrom('script/demo', 'fast', 'a/b/c'),
  dataUrl: fc.constant('data:text/plain;base64,aGk='),
  mediaType: fc.constant('text/plain'),
  analysisMode: fc.constant('default'),
  sizeBytes: fc.constant(2),
  mcpServerName: fc.constant('files'),
  subjectId: fc.constantFrom('anna', 'bob', '木'),
  version: fc.constantFrom(0, 1),
  expectedVersion: fc.constantFrom(0, 1, 2),
  tag: fc.constantFrom('dev', 'next'),
  role: fc.constantFrom('reader', 'writer'),
  vaultIds: fc.constantFrom([], [], ['vlt_unknown']),
  schedule: fc.constantFrom('30m', 'every 2h', '0 9 * * 1-5', '2099-01-01', '* * * * * *', '2001-01-01'),
};

/** Most mixtures of events are rejected; callers usually send a single prompt. */
const PROMPT = fc.constant([{ type: 'user.message', content: [{ type: 'text', text: 'hello' }] }]);

const text = fc.string({ unit: 'grapheme', maxLength: 20 });

function makeText({ pattern, format, minLength = 0, maxLength = 40 }: Schema): fc.Arbitrary<string> {
  if (format === 'uri') return fc.webUrl();
  // The one pattern with a Unicode class: no control characters.
  if (pattern?.includes('\\P') === true) return text.filter((value) => value !== '' && !/\p{Cc}/u.test(value));
  if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern));
  const short = fc.string({ unit: 'grapheme', minLength, maxLength: Math.min(maxLength, 40) });
  const widest = maxLength > 20_000 ? [] : [{ weight: 1, arbitrary: fc.constant('x'.repeat(maxLength)) }];
  return fc.oneof({ weight: 9, arbitrary: short }, ...widest);
}

function makeInteger({ minimum = -1000, maximum = 1000 }: Schema): fc.Arbitrary<number> {
  return fc.oneof(
    fc.integer({ min: minimum, max: Math.min(minimum + 3, maximum) }),
    fc.integer({ min: minimum, max: maximum }),
  );
}

/** Values that a schema of the document allows. */
export function makeValid(schemas: Record<string, Schema>, schema: Schema, depth = 0): fc.Arbitrary<unknown> {
  const inner = (next: Schema) => makeValid(schemas, next, depth + 1);
  if (schema.$ref !== undefined) return makeValid(schemas, schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {}, depth);
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  const choices = schema.oneOf ?? schema.anyOf;
  if (choices !== undefined) return fc.oneof(...choices.map(inner));
  switch (schema.type) {
    case 'string':
      return makeText(schema);
    case 'integer':
    case 'number':
      return makeInteger(schema);
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'array':
      return fc.array(inner(schema.items ?? {}), { minLength: schema.minItems ?? 0, maxLength: depth > 2 ? 1 : 3 });
    case 'object':
      return makeObject(schema, inner);
    default:
      return fc.jsonValue({ maxDepth: 2 });
  }
}

function makeObject(schema: Schema, inner: (schema: Schema) => fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  const fields = Object.entries(schema.properties ?? {});
  if (fields.length === 0) {
    return fc.dictionary(fc.string({ minLength: 1, maxLength: 10 }), fc.oneof(text, fc.integer(), fc.boolean()), {
      maxKeys: 3,
    });
  }
  const model = Object.fromEntries(
    fields.map(([name, item]) => [
      name,
      name === 'events' ? fc.oneof(PROMPT, inner(item)) : (KNOWN[name] ?? inner(item)),
    ]),
  );
  return fc.record(model, { requiredKeys: schema.required ?? [] });
}

function nest(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level += 1) value = level % 2 === 0 ? [value] : { a: value };
  return value;
}

const ODD: unknown[] = [
  null,
  true,
  0,
  -1,
  1.5,
  1e308,
  -1e308,
  2 ** 53,
  2 ** 31,
  1e-320,
  '',
  ' ',
  '\0',
  'a\0b',
  '\ud800',
  '\udfff',
  '\u202e',
  '😀',
  'x'.repeat(30_000),
  [],
  {},
  [[]],
  [null],
  { '\0': 1 },
  nest(90),
  nest(300),
  nest(1000),
];

/** Values that no schema allows. */
export const junk: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(...ODD),
  fc.jsonValue({ maxDepth: 4 }),
  fc.string({ unit: 'binary', maxLength: 300 }),
);

/** Inserts junk somewhere into a value, or removes a part. */
export function breakValue(value: unknown, where: readonly number[], bad: unknown): unknown {
  const [step = 0, ...rest] = where;
  if (typeof value !== 'object' || value === null || where.length === 0) return bad;
  const keys = Object.keys(value);
  const key = keys[step % Math.max(1, keys.length)];
  if (key === undefined) return bad;
  if (Array.isArray(value))
    return value.map((item, index) => (String(index) === key ? breakValue(item, rest, bad) : item));
  const broken: Record<string, unknown> = { ...value };
  if (step % 5 === 4) delete broken[key];
  else broken[key] = breakValue(broken[key], rest, bad);
  return broken;
}
