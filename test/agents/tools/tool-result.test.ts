import { afterAll, beforeAll, expect, test } from 'vitest';
import { decideResultLimits, finishResult } from '../../../src/agents/tools/tool-result.ts';
import { openToolSession } from '../../support/tools.ts';

let session: Awaited<ReturnType<typeof openToolSession>>;
beforeAll(async () => {
  session = await openToolSession();
});
afterAll(() => session.close());

const finish = (tool: string, content: string) =>
  finishResult(
    tool,
    { content, isError: false },
    { callId: 'call/1', sandbox: () => Promise.resolve(session.sandbox), resultLimit: 100_000 },
  );

test('colours go, in JSON too', async () => {
  const { value, text } = await session.call('terminal', { command: 'printf "\\033[31mred\\033[0m"' });
  expect(value['output']).toContain('\u001b[31m');
  expect((await finish('terminal', text)).content).toContain('"output":"red"');
});

test.each([
  ['sk', 'ant', 'api03', 'abcdefghij0123456789abcdef'].join('-'),
  'ghp_abcdefghijklmnopqrstuvwxyz0123456789',
  'AKIAIOSFODNN7EXAMPLE',
  'Authorization: Bearer abcdef.0123456789-xyz_ABC',
  'postgres://user:hunter2hunter2@host/db',
  'API_KEY=abcdef0123456789',
  '{"client_secret": "abcdef0123456789"}',
  '-----BEGIN RSA PRIVATE KEY-----\nMIIabc\n-----END RSA PRIVATE KEY-----',
])('%j does not get through', async (secret) => {
  const { content } = await finish('terminal', JSON.stringify({ output: secret }));
  expect(content).toContain('[redacted]');
  expect(content).not.toMatch(/0123456789|IOSFODNN7|hunter2|MIIabc/);
  expect(() => JSON.parse(content) as unknown).not.toThrow();
});

test.each([
  'const password = process.env.PASSWORD_FIELD;',
  'the secret of long life',
  'sha256 e3b0c44298fc1c149afbf4c8996fb924',
  'token = readToken(request)',
])('%j stays', async (plain) => {
  expect((await finish('terminal', plain)).content).toBe(plain);
});

test('a very long result goes to a file and leaves its beginning', async () => {
  const content = 'z'.repeat(100_001);
  const finished = await finish('search_files', content);
  expect(finished.content).toMatch(
    /^<persisted-output>[\s\S]*\.capstan\/outputs\/call_1\.txt[\s\S]*<\/persisted-output>$/,
  );
  expect(finished.content.length).toBeLessThan(2000);
  expect(await session.read('.capstan/outputs/call_1.txt')).toBe(content);
  expect((await finish('read_file', content)).content).toBe(content);
  expect((await finish('terminal', 'z'.repeat(100_000))).content).toHaveLength(100_000);
});

test('a redrawn line shows its last state in the output of commands', async () => {
  const drawn = JSON.stringify({ output: 'start\r\n 10%\r 50%\r100%\ndone\r' });
  expect((await finish('terminal', drawn)).content).toBe(JSON.stringify({ output: 'start\n100%\ndone' }));
  expect((await finish('read_file', drawn)).content).toBe(drawn);
});

test('results may be as large as the window allows', () => {
  expect(decideResultLimits(1_000_000)).toEqual({ result: 100_000, step: 200_000 });
  expect(decideResultLimits(32_000)).toEqual({ result: 25_600, step: 51_200 });
  expect(decideResultLimits(1000)).toEqual({ result: 4000, step: 8000 });
  expect(decideResultLimits(Infinity)).toEqual({ result: 100_000, step: 200_000 });
});
