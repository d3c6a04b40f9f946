import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { explainExitCode } from '../../../src/agents/tools/terminal/exit-codes.ts';
import { refuseForeground } from '../../../src/agents/tools/terminal/refusals.ts';
import { openToolSession } from '../../support/tools.ts';

let session: Awaited<ReturnType<typeof openToolSession>>;
beforeAll(async () => {
  session = await openToolSession();
});
afterAll(() => session.close());

describe('terminal', () => {
  test('returns output and exit code, and explains a harmless code', async () => {
    expect((await session.call('terminal', { command: 'echo hi' })).value).toEqual({
      output: 'hi\n',
      exit_code: 0,
      error: null,
    });
    const grep = await session.call('terminal', { command: 'echo a | grep b' });
    expect(grep).toMatchObject({
      isError: false,
      value: { exit_code: 1, exit_code_meaning: expect.stringContaining('No matches') as string },
    });
  });

  test('a timeout is code 124 and an error', async () => {
    expect(await session.call('terminal', { command: 'sleep 60', timeout: 1 })).toMatchObject({
      isError: true,
      value: { exit_code: 124 },
    });
  });

  test('limits and unsafe folders are refused before anything runs', async () => {
    const refused = { isError: true, value: { exit_code: -1 } };
    expect(await session.call('terminal', { command: 'true', timeout: 601 })).toMatchObject(refused);
    expect(await session.call('terminal', { command: 'true', workdir: 'a;b' })).toMatchObject({
      ...refused,
      value: { status: 'blocked' },
    });
    expect(await session.call('terminal', { command: 'true', workdir: 'not-there' })).toMatchObject(refused);
    expect(await session.call('terminal', { command: 'sleep 1 &' })).toMatchObject(refused);
  });
});

describe('commands that do not belong in the foreground', () => {
  test.each([
    'sleep 5 &',
    'a & b',
    'nohup x',
    'A=1 nohup x',
    'cd a && npm run dev',
    'python3 -m http.server',
    'PORT=1 npx vite',
    '(setsid x)',
    'tail -f log',
    'uvicorn app:app',
  ])('%j', (command) => {
    expect(refuseForeground(command)).toBeTypeOf('string');
  });
  test.each([
    'a && b',
    'a 2>&1 | b',
    'a &> f',
    'echo "x & y"',
    "grep 'nohup' f",
    'npm run dev --help',
    'npm run build',
    'echo a \\& b',
    'cat <<EOF\na & b\nEOF',
    'npx vite build --help',
    'git commit -m "use uvicorn"',
    'tail -n 5 f',
    '# a & b',
    'pip install uvicorn',
  ])('but %j does', (command) => {
    expect(refuseForeground(command)).toBeUndefined();
  });
});

test.each([
  ['grep x f', 1, true],
  ['cd a && FOO=1 /usr/bin/diff a b', 1, true],
  ['grep x f; false', 1, false],
  ['curl http://x', 7, true],
  ['grep x f', 2, false],
  ['git diff --exit-code', 1, true],
])('the code of %j, %i, is explained: %s', (command, code, explained) => {
  expect(explainExitCode(command, code) !== undefined).toBe(explained);
});

describe('process', () => {
  test('follows a background command from its start to its end', async () => {
    const started = await session.call('terminal', { command: 'read a; echo "got $a"; sleep 300', background: true });
    expect(started.value).toMatchObject({ output: 'Background process started', exit_code: 0, error: null });
    const id = started.value['session_id'];
    expect((await session.call('process', { action: 'submit', session_id: id, data: 'this' })).value).toMatchObject({
      status: 'ok',
    });
    await expect
      .poll(async () => (await session.call('process', { action: 'poll', session_id: id })).value['output_preview'])
      .toBe('got this\n');
    expect((await session.call('process', { action: 'wait', session_id: id, timeout: 1 })).value).toMatchObject({
      status: 'timeout',
      output: 'got this\n',
    });
    expect((await session.call('process', { action: 'kill', session_id: id })).value).toMatchObject({
      status: 'killed',
      exit_code: -15,
    });
    expect((await session.call('process', { action: 'kill', session_id: id })).value).toMatchObject({
      status: 'already_exited',
    });
    expect((await session.call('process', { action: 'list' })).value['processes']).toMatchObject([
      { session_id: id, status: 'exited' },
    ]);
  });

  test('shows the last lines, or those asked for', async () => {
    const { value } = await session.call('terminal', { command: 'seq 500', background: true });
    const log = (over: Record<string, unknown>) =>
      session.call('process', { action: 'log', session_id: value['session_id'], ...over });
    expect((await session.call('process', { action: 'wait', session_id: value['session_id'] })).value).toMatchObject({
      status: 'exited',
      exit_code: 0,
    });
    expect((await log({})).value).toMatchObject({ total_lines: 500, showing: '301-500' });
    expect((await log({ offset: 10, limit: 2 })).value).toMatchObject({ output: '11\n12', showing: '11-12' });
  });

  test('a terminal is given where it is asked for', async () => {
    const run = async (pty: boolean) => {
      const { value } = await session.call('terminal', {
        command: 'test -t 1 && echo a terminal || echo a pipe',
        background: true,
        pty,
      });
      return (await session.call('process', { action: 'wait', session_id: value['session_id'] })).value['output'];
    };
    expect(await run(true)).toContain('a terminal');
    expect(await run(false)).toBe('a pipe\n');
  });

  test('an interrupt ends a wait, and an unknown process is said to be unknown', async () => {
    const { value } = await session.call('terminal', { command: 'sleep 300', background: true });
    const abort = new AbortController();
    setTimeout(() => abort.abort(), 200);
    expect(
      (await session.call('process', { action: 'wait', session_id: value['session_id'] }, { signal: abort.signal }))
        .value,
    ).toMatchObject({ status: 'interrupted' });
    expect((await session.call('process', { action: 'poll', session_id: 'nope' })).value).toMatchObject({
      status: 'not_found',
    });
    expect((await session.call('process', { action: 'poll' })).isError).toBe(true);
  });
});
