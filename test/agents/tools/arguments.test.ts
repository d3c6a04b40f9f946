import { expect, test } from 'vitest';
import { readArguments, readCallerArguments } from '../../../src/agents/tools/arguments.ts';
import { readClarifyInput } from '../../../src/agents/tools/clarify.ts';
import { buildTools } from '../../../src/agents/tools/builtin-tools.ts';
import { findToolset } from '../../../src/agents/contract/toolsets.ts';

const SCHEMA = {
  type: 'object',
  properties: {
    n: { type: 'integer', minimum: 1 },
    s: { type: 'string' },
    b: { type: 'boolean' },
    list: { type: 'array', items: { type: 'object' } },
  },
  required: ['s'],
};

test('arguments are mended where the meaning is clear', () => {
  expect(readArguments(SCHEMA, '{"n":"5","s":12,"b":"True","list":"[{\\"a\\":1}]"}')).toEqual({
    input: { n: 5, s: '12', b: true, list: [{ a: 1 }] },
  });
  expect(readArguments(SCHEMA, '{"s":"12","n":null}')).toEqual({ input: { s: '12' } });
});

test('errors name the argument and not its value', () => {
  expect(readArguments(SCHEMA, '{}')).toEqual({ error: 's: is required' });
  expect(readArguments(SCHEMA, '{"s":"a","n":"SECRET"}')).toEqual({ error: 'n: must be integer' });
  expect(readArguments(SCHEMA, '{"s":"a","n":0}')).toEqual({ error: 'n: must be >= 1' });
  expect(readArguments(SCHEMA, '{"s":')).toHaveProperty('error');
  expect(readArguments(SCHEMA, '[]')).toHaveProperty('error');
});

test('a schema that cannot be compiled lets the arguments through', () => {
  expect(readArguments({ type: 'object', $ref: 'http://nowhere/x' }, '{"a":1}')).toEqual({ input: { a: 1 } });
  expect(
    readArguments({ $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'object', required: ['a'] }, '{}'),
  ).toEqual({ error: 'a: is required' });
});

test("a caller's schema is checked, except for what may take long", () => {
  const schema = {
    properties: { id: { type: 'string', pattern: '^(a+)+$', format: 'email' }, n: { enum: [1, 2] } },
    required: ['id'],
    additionalProperties: false,
  };
  expect(readCallerArguments(schema, '{}')).toEqual({ error: 'id: is required' });
  expect(readCallerArguments(schema, '{"id":"b"}')).toEqual({ input: { id: 'b' } });
  expect(readCallerArguments(schema, '{"id":"b","n":3}')).toEqual({ error: 'n: must be one of [1,2]' });
  expect(readCallerArguments(schema, '{"id":"b","more":3}')).toEqual({
    error: 'more: is not an argument of this tool',
  });
  const named = { patternProperties: { '^x-': { type: 'string' } }, additionalProperties: false };
  expect(readCallerArguments(named, '{"x-a":"1"}')).toEqual({ input: { 'x-a': '1' } });
});

test('choices are unwrapped and cut to four', () => {
  const choices = ['a', { label: 'b' }, { text: 'c', other: 1 }, {}, { title: 'd' }, 'e'];
  expect(readClarifyInput({ question: ' Q? ', choices })).toEqual({ question: 'Q?', choices: ['a', 'b', 'c', 'd'] });
  expect(readClarifyInput({ question: 'Q?' })).toEqual({ question: 'Q?', choices: null });
});

test('every tool is in the toolset that the contract names', () => {
  for (const tool of buildTools()) expect(findToolset(tool.name)).toBe(tool.toolset);
});
