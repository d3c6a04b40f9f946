import { expect, test } from 'vitest';
import { parseAnsi } from '../../src/console/page/text/ansi.ts';
import { buildCall, readAnswer, writeCurl } from '../../src/console/page/gateway/dialects.ts';
import { EMPTY_PROVIDER, buildProvider } from '../../src/console/page/gateway/provider-draft.ts';
import { readFieldErrors } from '../../src/console/page/text/field-errors.ts';
import { readDays, readLocalTime, writeLocalTime } from '../../src/console/page/text/local-time.ts';
import { formatMoney } from '../../src/console/page/text/money.ts';
import { splitInvisible } from '../../src/console/page/text/invisible.ts';
import { decodeEntities, isSafeLink } from '../../src/console/page/text/links.ts';
import { readMarkdown } from '../../src/console/page/text/markdown.ts';

const ESCAPE = String.fromCodePoint(27);
const RIGHT_TO_LEFT = String.fromCodePoint(0x202e);

test('invisible characters become marks, everything else stays', () => {
  const marked = splitInvisible(`rm ${RIGHT_TO_LEFT}txt.exe${String.fromCodePoint(0x200b)}`);
  expect(marked).toEqual([
    { text: 'rm ', isMark: false },
    { text: 'U+202E', isMark: true },
    { text: 'txt.exe', isMark: false },
    { text: 'U+200B', isMark: true },
  ]);
  expect(splitInvisible('Grüße, 世界 🎉\n\ttab')).toEqual([{ text: 'Grüße, 世界 🎉\n\ttab', isMark: false }]);
  expect(splitInvisible('')).toEqual([]);
});

test('colours of programs become classes, other sequences are dropped', () => {
  expect(parseAnsi(`${ESCAPE}[1;32mok${ESCAPE}[0m done`)).toEqual([
    { text: 'ok', classes: 'a-bold a-green' },
    { text: ' done', classes: '' },
  ]);
  expect(
    parseAnsi(`a${ESCAPE}[2Jb${ESCAPE}]0;title\u0007c${ESCAPE}[38;5;200md`)
      .map(({ text }) => text)
      .join(''),
  ).toBe('abcd');
  expect(parseAnsi('10 %\r20 %\r100 %\nend').map(({ text }) => text)).toEqual(['100 %\nend']);
  expect(parseAnsi(`${ESCAPE}[`)).toEqual([]);
});

test('only links of the web and of mail may be followed', () => {
  expect(['https://a.example', 'http://a.example', 'mailto:a@b.example'].every(isSafeLink)).toBe(true);
  const others = [
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    'data:text/html,x',
    'vbscript:x',
    'file:///etc/passwd',
    '/relative',
    '',
  ];
  expect(others.filter(isSafeLink)).toEqual([]);
  expect(decodeEntities('&lt;a&gt; &amp;lt; &copy;')).toBe('<a> &lt; &copy;');
});

test('hidden characters without end become few marks, and nothing visible is lost', () => {
  const hidden = String.fromCodePoint(0x200b);
  expect(splitInvisible(`a${hidden.repeat(12)}b`)).toEqual([
    { text: 'a', isMark: false },
    { text: 'U+200B ×12', isMark: true },
    { text: 'b', isMark: false },
  ]);
  const segments = splitInvisible(`x${hidden}`.repeat(5000));
  expect(segments.length).toBeLessThan(1100);
  expect(segments.map(({ text }) => text.replaceAll(/[^x]/g, '')).join('')).toBe('x'.repeat(5000));
});

test('colours without end become few spans, and no text is lost', () => {
  const spans = parseAnsi(Array.from({ length: 9000 }, (_, index) => `${ESCAPE}[${31 + (index % 6)}mx`).join(''));
  expect(spans.length).toBeLessThanOrEqual(2000);
  expect(spans.map(({ text }) => text).join('')).toBe('x'.repeat(9000));
});

test('Markdown that would keep the page busy is shown as it was written', () => {
  const plain = ['_a'.repeat(9000), '> '.repeat(9000), '1. '.repeat(5000), '*.'.repeat(9000), 'a**b_c'.repeat(3000)];
  for (const text of plain) expect(readMarkdown(text)).toEqual({ tokens: [], rest: text });
  const headings = '#\n'.repeat(9000);
  const { tokens, rest } = readMarkdown(headings);
  expect(tokens.length).toBeLessThanOrEqual(3000);
  expect(tokens.map(({ raw }) => raw).join('') + rest).toBe(headings);
  const table = `| a | b |\n|---|---|\n${'| 1 | **2** |\n'.repeat(100)}`;
  expect(readMarkdown(table).tokens.map(({ type }) => type)).toEqual(['table']);
  expect(readMarkdown(table).rest).toBe('');
});

test('small amounts of money keep the digits that say something', () => {
  const amounts = [0, 0.0000001, 0.000012, 0.0021, 0.05, 0.0999, 12.4];
  const shown = ['$0', '<$0.000001', '$0.000012', '$0.0021', '$0.05', '$0.10', '$12.40'];
  expect(amounts.map((usd) => formatMoney(usd).replace(',', '.'))).toEqual(shown);
});

test('each dialect of the gateway has its request, and the text of its answer is found', () => {
  const answers = {
    chat: { choices: [{ message: { role: 'assistant', content: 'Hello' } }] },
    responses: { output: [{ type: 'message', content: [{ type: 'output_text', text: 'Hello' }] }] },
    messages: { content: [{ type: 'text', text: 'Hello' }] },
  } as const;
  const found = (['chat', 'responses', 'messages'] as const).map((dialect) => [
    buildCall(dialect, 'script/demo', 'Hi').path,
    readAnswer(dialect, answers[dialect]),
  ]);
  expect(found).toEqual([
    ['v1/chat/completions', 'Hello'],
    ['v1/responses', 'Hello'],
    ['v1/messages', 'Hello'],
  ]);
  expect(writeCurl('http://a.example', { text: "it's" })).toContain(String.raw`it'\''s`);
});

test('a validation message is read field by field, any other is not', () => {
  const message = 'body.auth.token: is required; body.models[0]: must be at least 1 characters; body.models[1]: no';
  expect([...readFieldErrors(message)]).toEqual([
    ['auth.token', 'is required'],
    ['models', 'must be at least 1 characters'],
  ]);
  expect([...readFieldErrors('name: is required; scopes[0]: must be one of "a", "b"')]).toEqual([
    ['name', 'is required'],
    ['scopes', 'must be one of "a", "b"'],
  ]);
  expect(readFieldErrors('body: must change at least one field').size).toBe(0);
  expect(readFieldErrors('The API key is not valid.').size).toBe(0);
  expect(readFieldErrors('body.name: is required; or something else').get('name')).toBe(
    'is required; or something else',
  );
});

test('times of fields go to UTC and back, and days become a range without its end', () => {
  expect(readLocalTime('')).toBeNull();
  const at = readLocalTime('2126-01-31T09:00');
  expect(writeLocalTime(at)).toBe('2126-01-31T09:00');
  expect(readDays('2026-11-01', '2026-11-02')).toEqual({
    from: '2026-11-01T00:00:00.000Z',
    to: '2026-11-03T00:00:00.000Z',
  });
  expect(readDays('yesterday', undefined)).toEqual({});
});

test('a provider is sent with the fields of its kind alone', () => {
  const typed = { ...EMPTY_PROVIDER, apiKey: 'sk-1', accessKeyId: 'AKIA0000000000000000', secretAccessKey: 'secret' };
  expect(buildProvider(typed)).toEqual({ name: 'openai', preset: 'openai', apiKey: 'sk-1' });
  expect(buildProvider({ ...typed, kind: 'bedrock', name: 'bedrock', region: 'eu-central-1' })).toEqual({
    name: 'bedrock',
    preset: 'bedrock',
    aws: { region: 'eu-central-1', accessKeyId: 'AKIA0000000000000000', secretAccessKey: 'secret' },
  });
  expect(buildProvider({ ...typed, kind: 'vertex', name: 'vertex', project: 'acme-1', credentials: '{}' })).toEqual({
    name: 'vertex',
    preset: 'vertex',
    google: { project: 'acme-1', credentials: '{}' },
  });
});
