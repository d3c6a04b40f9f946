import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EventEnvelope } from '../../src/agents/contract/events.ts';
import type { Session } from '../../src/agents/contract/sessions.ts';
import { collect, startServer, waitFor } from './server.ts';
import type { CliServer } from './server.ts';

let server: CliServer;

beforeAll(async () => {
  server = await startServer();
  await server.capstan(['agents', 'create', '--name', 'demo', '--model', 'script/demo']);
});
afterAll(() => server.close());

let subjects = 0;

/** A conversation with its own subject: conversations per subject and minute are limited. */
function chat(input: string, ...args: string[]) {
  subjects += 1;
  return server.capstan(['chat', 'demo', '--subject', `subject ${subjects}`, ...args], { input });
}

async function createSession(): Promise<string> {
  const { out } = await server.capstan(['sessions', 'create', 'demo', '--subject', 'me', '--json']);
  return (JSON.parse(out) as Session).id;
}

describe('with input from a pipe', () => {
  it('prints the conversation and ends with the input', async () => {
    const { code, out, err } = await chat('run: echo "hi"; pwd\nbye', '--yolo');
    expect({ code, err }).toEqual({ code: 0, err: '' });
    // A call of a second or more shows its duration.
    expect(out.replaceAll(/(?<=└.*) · [\d.]+ s$/gm, '').replaceAll(/· .* ms|· .* s/g, '·')).toBe(
      [
        '› run: echo "hi"; pwd\n',
        '● terminal  echo "hi"; pwd\n  └ hi (+1 line)\n',
        'terminal: hi\n/workspace\n',
        '·\n',
        '› bye\n',
        'You said: bye\n',
        '·\n',
      ].join('\n'),
    );
  });

  it('joins lines that end with a backslash', async () => {
    const { out } = await chat('one\\\ntwo\n');
    expect(out).toContain('You said: one\ntwo\n');
  });

  it('denies calls that need approval, and reports it', async () => {
    const { code, out } = await chat('run: touch made\n');
    expect(code).toBe(0);
    expect(out).toContain('terminal touch made: denied, since nobody is here to approve it');
    expect(out).toContain('terminal  touch made (not allowed)');
  });

  it('answers a question with the next line, by number where there are choices', async () => {
    const ask = 'call clarify {"question":"Tea?","choices":["yes","no"]}';
    const { out } = await chat(`${ask}\n2\n`);
    expect(out).toMatch(/\? Tea\?\n {2}1 yes\n {2}2 no\n/);
    expect(out).toContain('"user_response":"no"');
  });

  it('shows the tasks and results of subagents', async () => {
    const file = join(server.dataDir, 'delegating.json');
    const configs = [{ name: 'delegation' }];
    const tools = [{ type: 'agent_toolset', defaultConfig: { permissionPolicy: { type: 'always_allow' } }, configs }];
    writeFileSync(file, JSON.stringify({ name: 'delegating', modelName: 'script/demo', tools }));
    await server.capstan(['agents', 'create', '--file', file]);
    const input = 'call delegate_task {"goal":"run: echo hi"}\n';
    const { out } = await server.capstan(['chat', 'delegating', '--subject', 'me'], { input });
    expect(out).toMatch(/· subagent: run: echo hi\n.*● terminal {2}echo hi\n.*· subagent completed: terminal: hi\n/s);
  });

  it('ends with 1 when a turn failed', async () => {
    const { code, out } = await chat('fail: no such luck\n');
    expect(code).toBe(1);
    expect(out).toContain('✗ no such luck');
  });

  it('prints events for machines, and colors only on a terminal', async () => {
    const { out } = await chat('hello\n', '--json');
    const events = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as EventEnvelope);
    expect(events.map((event) => event.sequence)).toEqual(events.map((_, index) => index + 1));
    expect(out).not.toContain('\u001B');
  });
});

it('shows the history when it continues a session', async () => {
  const id = await createSession();
  await server.capstan(['chat', '--session', id], { input: 'first\n' });
  const { out } = await server.capstan(['chat', '--session', id], { input: 'second\n' });
  expect(out).toMatch(/› first\n\nYou said: first\n.*› second\n\nYou said: second\n/s);
});

it('keeps control characters of models and tools away from the terminal', async () => {
  const { out } = await chat('a\u001B[31mred\u0007\n');
  expect(out).toContain('You said: a[31mred\n');
});

it('ends the running turn at the first Ctrl-C and continues', async () => {
  const id = await createSession();
  const child = server.start(['chat', '--session', id, '--yolo']);
  child.stdin?.write('run: sleep 300\n');
  const finished = collect(child);
  await waitFor(child, /● terminal/);
  child.kill('SIGINT');
  child.stdin?.end('still there?\n');
  const { code, out } = await finished;
  expect(code).toBe(0);
  expect(out).toContain('Interrupted by the user.');
  expect(out).toMatch(/You said: .*still there\?\n/s);
});
