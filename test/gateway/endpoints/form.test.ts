import { expect, test } from 'vitest';
import { readForm } from '../../../src/gateway/endpoints/form.ts';

const BOUNDARY = 'a-boundary';
const TYPE = `multipart/form-data; boundary=${BOUNDARY}`;

const encode = (parts: readonly string[]) =>
  Buffer.from(`${parts.map((part) => `--${BOUNDARY}\r\n${part}\r\n`).join('')}--${BOUNDARY}--\r\n`);
const field = (name: string, value: string) => `content-disposition: form-data; name="${name}"\r\n\r\n${value}`;

test('a form may contain its boundary in a text', async () => {
  const prompt = `Explain --${BOUNDARY} and -- ${BOUNDARY}--.`;
  const file = `content-disposition: form-data; name="file"; filename="a.txt"\r\ncontent-type: text/plain\r\n\r\nSee --${BOUNDARY}`;
  const { fields, files } = await readForm(encode([field('prompt', prompt), field('t[]', '1'), file]), TYPE);
  expect(fields).toEqual({ prompt, 't[]': ['1'] });
  const bytes = new Uint8Array(Buffer.from(`See --${BOUNDARY}`));
  expect(files).toEqual([{ field: 'file', name: 'a.txt', type: 'text/plain', bytes }]);
});

test('parts without a name are skipped, and their number is limited', async () => {
  const nameless = ['content-disposition: form-data\r\n\r\na', 'content-disposition: form-data; filename="b"\r\n\r\nb'];
  expect(await readForm(encode([...nameless, field('__proto__', 'c')]), TYPE)).toEqual({
    fields: Object.fromEntries([['__proto__', 'c']]),
    files: [],
  });
  const many = (count: number) => readForm(encode(Array.from({ length: count }, (_, at) => field(`f${at}`, ''))), TYPE);
  expect(Object.keys((await many(100)).fields)).toHaveLength(100);
  await expect(many(101)).rejects.toThrow('at most 100 parts');
});

test.each([
  ['no boundary', TYPE.split(';')[0] ?? '', encode([])],
  ['no end', TYPE, Buffer.from(`--${BOUNDARY}\r\n${field('a', 'b')}`)],
  ['nothing', TYPE, Buffer.from('')],
])('a malformed form is refused: %s', async (_name, type, body) => {
  await expect(readForm(body, type)).rejects.toThrow('must be a valid multipart/form-data form');
});

test('a form that ends at any byte is refused, and ends nothing else', async () => {
  const nameless = 'content-disposition: form-data; filename="a"\r\n\r\nb';
  const named = 'content-disposition: form-data; name="file"; filename="a"\r\n\r\nb';
  for (const part of [nameless, named, field('a', 'b')]) {
    const whole = encode([part]);
    for (let end = 0; end < whole.length - `--${BOUNDARY}--\r\n`.length; end += 1) {
      await expect(readForm(whole.subarray(0, end), TYPE)).rejects.toThrow('must be a valid multipart/form-data form');
    }
  }
});
