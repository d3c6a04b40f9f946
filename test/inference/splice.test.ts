import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { spliceObject } from '../../src/inference/splice.ts';

const read = (text: string) => {
  const parsed = JSON.parse(text) as Record<string, unknown>;
  return { bytes: Buffer.from(text), parsed };
};
const splice = (text: string, change: Record<string, unknown>) => {
  const raw = read(text);
  return spliceObject(raw, { ...raw.parsed, ...change })?.toString();
};

test('fields that stay keep their bytes', () => {
  const text = ' { "a" : 1.0, "model":"x", "b": [ {"model": "inner"}, "\\"}," ] , "ü": "é" }\n';
  expect(splice(text, { model: 'y' })).toBe('{"a" : 1.0,"b": [ {"model": "inner"}, "\\"}," ] ,"model":"y","ü":"é"}');
});

test.each([
  ['{}', {}, '{}'],
  ['{}', { model: 'y' }, '{"model":"y"}'],
  ['{"model":"x"}', { model: undefined }, '{}'],
  ['{"a":{},"s":"\\\\"}', { model: 'y' }, '{"a":{},"s":"\\\\","model":"y"}'],
  ['{"a":1,"\\u0062":2}', { b: 3 }, '{"a":1,"b":3}'],
  ['{"model":"x","model":"z"}', { model: 'y' }, undefined],
])('%s with %j', (text, change, expected) => {
  expect(splice(text, change)).toBe(expected);
});

test('a splice equals the wanted object, for any object', () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.string(), fc.jsonValue()),
      fc.dictionary(fc.string(), fc.jsonValue()),
      fc.nat(4),
      (object, change, space) => {
        const text = JSON.stringify(object, null, space);
        const raw = read(text);
        const wanted: Record<string, unknown> = { ...raw.parsed, ...change };
        expect(JSON.parse(String(spliceObject(raw, wanted)))).toEqual(JSON.parse(JSON.stringify(wanted)));
      },
    ),
    { seed: 16 },
  );
});

test('strings of any length with any escapes keep their bytes', () => {
  const text = fc.string({ unit: fc.constantFrom('"', '\\', 'a', '\n', 'é', ' of several words '), maxLength: 120 });
  fc.assert(
    fc.property(fc.array(text), text, (texts, last) => {
      const object = { texts, model: 'x', last };
      const rest = JSON.stringify({ texts, last }).slice(0, -1);
      expect(splice(JSON.stringify(object), { model: 'y' })).toBe(`${rest},"model":"y"}`);
    }),
    { seed: 16 },
  );
});
