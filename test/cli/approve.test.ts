import { afterAll, beforeAll, expect, it } from 'vitest';
import type { EventList } from '../../clients/typescript/index.ts';
import type { Session } from '../../src/agents/contract/sessions.ts';
import { startServer, waitFor } from './server.ts';
import type { CliServer } from './server.ts';

let server: CliServer;

beforeAll(async () => {
  server = await startServer();
  await server.capstan(['agents', 'create', '--name', 'bob', '--model', 'script/demo']);
}, 120_000);
afterAll(() => server.close());

async function openSession(): Promise<string> {
  const { out } = await server.capstan(['sessions', 'create', 'bob', '--subject', 'me', '--json']);
  return (JSON.parse(out) as Session).id;
}

async function sendAndApprove(session: string, prompt: string, ...flags: string[]): Promise<string> {
  await server.capstan(['events', 'send', session, prompt]);
  const { code, out, err } = await server.capstan(['approve', session, ...flags]);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return out;
}

/** The payloads of a session, once its turn has ended. */
async function readTurn(session: string): Promise<unknown[]> {
  await waitFor(server.start(['events', 'tail', session, '--after', '0', '--json']), /"type":"end_turn"/);
  const { out } = await server.capstan(['events', 'list', session, '--json']);
  return (JSON.parse(out) as EventList).data.map((event) => event.payload);
}

it('waits for the turn to ask, then allows every call that waits', async () => {
  const session = await openSession();
  const out = await sendAndApprove(session, 'run: echo first > a.txt\nrun: cat a.txt');
  expect(out).toBe('Allowed terminal: echo first > a.txt\nAllowed terminal: cat a.txt\n');
  const payloads = await readTurn(session);
  expect(payloads).toContainEqual(expect.objectContaining({ type: 'user.approval_response', scope: 'once' }));
  expect(JSON.stringify(payloads)).toContain('terminal: first');
}, 60_000);

it('denies with guidance for the model', async () => {
  const session = await openSession();
  const out = await sendAndApprove(session, 'run: date', '--deny', '--message', 'Use UTC.');
  expect(out).toBe('Denied terminal: date\n');
  const payloads = await readTurn(session);
  expect(payloads).toContainEqual(expect.objectContaining({ type: 'user.approval_response', result: 'deny' }));
  expect(payloads).toContainEqual({ type: 'user.steer', message: 'Use UTC.' });
  expect(payloads).toContainEqual(expect.objectContaining({ type: 'agent.tool_result', is_error: true }));
}, 60_000);

it('shows all pending actions, and answers none', async () => {
  const session = await openSession();
  const command = `echo ${'x'.repeat(400)} \u202E end`;
  const out = await sendAndApprove(session, `run: ${command}`, '--show');
  expect(out).toContain(`command: echo ${'x'.repeat(400)} \\u{202e} end`);
  const { out: read } = await server.capstan(['sessions', 'get', session, '--json']);
  expect((JSON.parse(read) as Session).pendingActions).toHaveLength(1);
}, 60_000);

it('approves a tool for the rest of the session', async () => {
  const session = await openSession();
  await sendAndApprove(session, 'run: true', '--scope', 'session');
  await readTurn(session);
  const answers = await server.capstan(['chat', '--session', session], { input: 'run: echo again\n' });
  expect(answers.out).toContain('terminal: again');
}, 60_000);

it('says when nothing waits, and refuses an unknown scope', async () => {
  const session = await openSession();
  const idle = await server.capstan(['approve', session]);
  expect(idle).toEqual({ code: 1, out: '', err: 'capstan: The session does not wait for an approval.\n' });
  expect((await server.capstan(['approve', session, '--scope', 'forever'])).code).toBe(2);
}, 60_000);
