import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Session } from '../../src/agents/contract/sessions.ts';
import { startServer } from './server.ts';
import type { CliServer, RunOptions } from './server.ts';

let server: CliServer;
beforeAll(async () => {
  server = await startServer();
  await server.capstan(['agents', 'create', '--name', 'ada', '--model', 'script/demo']);
});
afterAll(() => server.close());

async function run(line: string, options: RunOptions = {}): Promise<string> {
  const { code, out, err } = await server.capstan(line.split(' '), options);
  expect({ line, code, err }).toEqual({ line, code: 0, err: '' });
  return out;
}

const idIn = (text: string, prefix: string) => new RegExp(`${prefix}_[0-9a-z]{26}`).exec(text)?.[0] ?? '';

it('automations are made, listed, changed, paused, run and deleted', async () => {
  const what = ['--prompt', 'Say hi.', '--schedule', '0 9 * * *', '--name', 'Morning', '--timezone', 'Europe/Brussels'];
  const made = await server.capstan(['automations', 'create', 'ada', '--subject', 'me', ...what]);
  expect(made.out).toMatch(/scheduleDisplay +At 09:00 \(Europe\/Brussels\)/);
  const id = idIn(made.out, 'aut');
  expect(await run('automations list ada --subject me')).toMatch(/NAME.*SCHEDULE.*\n.*Morning +At 09:00/);
  expect(await run('automations list')).toContain('Morning');
  expect(await run(`automations pause ada ${id} --subject me`)).toMatch(/state +paused/);
  expect(await run(`automations resume ada ${id} --subject me`)).toMatch(/state +scheduled/);
  expect(await run(`automations update ada ${id} --subject me --repeat 3`)).toMatch(/repeat +3/);
  expect(await run(`automations run ada ${id} --subject me`)).toMatch(/sessionId +ses_/);
  expect(await run(`automations delete ada ${id} --subject me`)).toBe(`Deleted ${id}\n`);
});

it('vaults keep credentials, whose secrets come from standard input', async () => {
  const vault = idIn(await run('vaults create team'), 'vlt');
  const added = await run(`vaults add ${vault} --url https://mcp.example.com/mcp --name example`, {
    input: 's3cret\n',
  });
  expect(added).toMatch(/^Added crd_/);
  expect(await run(`vaults credentials ${vault}`)).toMatch(/example +static_bearer +https:\/\/mcp\.example\.com/);
  expect(await run(`vaults attach ada ${vault}`)).toContain(vault);
  expect(await run('mcp list ada')).toBe('None\n');
  expect(await run('vaults attach ada -')).not.toContain(vault);
  expect(await run('vaults list')).toContain('team');
  const credential = idIn(added, 'crd');
  expect(await run(`vaults remove ${vault} ${credential}`)).toBe(`Removed ${credential}\n`);
  expect(await run(`vaults delete ${vault}`)).toBe(`Deleted ${vault}\n`);
  const empty = await server.capstan(['vaults', 'add', vault, '--url', 'https://x.example.com'], { input: '' });
  expect(empty).toMatchObject({ code: 2, err: 'capstan: Set CAPSTAN_TOKEN, or pipe the secret in.\n' });
});

it('a subject is exported and deleted', async () => {
  const put = ['files', 'put', 'ada', '-', 'note.txt', '--subject', 'sam'];
  expect((await server.capstan(put, { input: 'Hi' })).code).toBe(0);
  const file = join(server.dataDir, '../sam.tar');
  expect(await run(`subjects export ada ${file} --subject sam`)).toBe(`Wrote ${file}\n`);
  expect(execFileSync('tar', ['-tf', file], { encoding: 'utf8' })).toContain('files/note.txt\n');
  expect(await run('subjects delete ada --subject sam --yes')).toBe('Deleted sam\n');
  expect(await run('files list ada --subject sam')).toBe('None\n');
  expect(await run('subjects list')).not.toContain('sam');
});

it('files move between this machine and a workspace', async () => {
  const file = join(server.dataDir, '../note.txt');
  writeFileSync(file, 'Hello\n');
  expect(await run(`files put ada ${file} notes/hello.txt --subject me`)).toBe('Wrote notes/hello.txt, 6 bytes\n');
  expect(await run('files list ada --subject me --path notes')).toContain('hello.txt');
  expect(await run('files get ada notes/hello.txt --subject me')).toBe('Hello\n');
  expect(await run('files delete ada notes --subject me')).toBe('Deleted notes\n');
});

it('memory, models, usage and videos are shown', async () => {
  expect(await run('memory set ada Likes_tea. --subject me')).toMatch(/content +Likes_tea\./);
  expect(await run('memory get ada --subject me')).toContain('Likes_tea.');
  expect(await run('models')).toMatch(/MODEL +WINDOW.*\n.*script\/demo +128000/);
  expect(await run('usage --group-by model')).not.toBe('');
  expect(await run('videos models')).toContain('local/storyboard-1');
});

it('budgets are set, listed and deleted', async () => {
  expect(await run('budgets set organization default --limit 12.5 --period month --on-reached notify')).toMatch(
    /limitUsd +12\.5/,
  );
  expect(await run('budgets list')).toMatch(/organization .* 12\.5 +month +0 +0 +12\.5 +notify/);
  expect(await server.capstan(['budgets', 'set', 'organization', 'default', '--limit', 'much'])).toMatchObject({
    code: 2,
    err: 'capstan: --limit must be a number, not much.\n',
  });
  expect(await run('budgets delete organization default --yes')).toBe('Deleted the budget of organization default\n');
});

it('any request is possible', async () => {
  const listed = JSON.parse(await run('api /v1/agents?limit=1')) as { data: { name: string }[] };
  expect(listed.data[0]?.name).toBe('ada');
  const made = await run('api post /v1/vaults --file -', { input: '{"displayName":"from api"}' });
  expect(JSON.parse(made)).toMatchObject({ displayName: 'from api' });
  expect(await server.capstan(['api', 'GET', 'v1'])).toMatchObject({
    code: 2,
    err: 'capstan: The path must begin with a slash.\n',
  });
  const missing = await server.capstan(['api', 'GET', '/v1/agents/agt_x']);
  expect(missing).toMatchObject({ code: 1, err: 'capstan: No such agent.\n' });
});

it('a question is shown, and answered by the number of a choice', async () => {
  const { out } = await server.capstan(['sessions', 'create', 'ada', '--subject', 'me', '--json']);
  const { id } = JSON.parse(out) as Session;
  const ask = 'call clarify {"question":"Tea?","choices":["yes","no"]}';
  await server.capstan(['events', 'send', id, ask]);
  expect(await run(`answer ${id}`)).toBe('? Tea?\n  1 yes\n  2 no\n');
  expect(await run(`answer ${id} 2`)).toBe('Answered 1 of 1\n');
  await expect.poll(async () => (await server.capstan(['events', 'list', id])).out).toContain('end_turn');
  expect(await server.capstan(['answer', id, 'x'])).toMatchObject({ code: 1 });
});

it('the doctor reports each check', async () => {
  const healthy = await run('doctor');
  for (const name of ['connection', 'server', 'backends', 'API key', 'models']) expect(healthy).toContain(`✓ ${name}`);
  const broken = await server.capstan(['doctor'], { env: { CAPSTAN_API_KEY: 'cap_wrong' } });
  expect(broken.code).toBe(1);
  expect(broken.out).toContain('✗ API key');
});

it('completions name the commands', async () => {
  expect(await run('completion bash')).toMatch(/automations\) words="list create get /);
  expect(await run('completion fish')).toContain('-a automations');
  expect(await server.capstan(['completion', 'tcsh'])).toMatchObject({ code: 2 });
});

it('a chat continues the last session, and uses the newest version', async () => {
  await server.capstan(['agents', 'update', 'ada', '--system', 'Be brief.']);
  const first = await server.capstan(['chat', 'ada', '--subject', 'resumer', '--preview', '--json'], {
    input: 'one\n',
  });
  const { out } = await server.capstan(['chat', '--resume', '--subject', 'resumer'], { input: 'two\n' });
  expect(out).toMatch(/› one\n.*› two\n/s);
  const id = idIn(first.out, 'ses');
  const { preview, agentVersion } = JSON.parse(await run(`api GET /v1/sessions/${id}`)) as Session;
  expect({ preview, agentVersion }).toEqual({ preview: true, agentVersion: 1 });
});

it('providers are added with a key from the environment, listed, tested and deleted', async () => {
  const flags = ['--preset', 'openai', '--url', 'https://1.1.1.1/v1', '--models', 'a,b', '--no-probe'];
  const made = await server.capstan(['providers', 'add', 'mine', ...flags], { input: 'sk-secret\n' });
  expect(made).toMatchObject({ code: 0, err: '' });
  expect(made.out).not.toContain('sk-secret');
  const id = idIn(made.out, 'prv');
  expect(await run('providers list')).toMatch(/mine +chat-completions +https:\/\/1\.1\.1\.1\/v1/);
  expect(await run('models')).toContain('mine/a');
  expect(await run(`providers delete ${id}`)).toBe(`Deleted ${id}\n`);
  expect(await run('providers list')).toBe('None\n');

  const account = JSON.stringify({ type: 'service_account', token_uri: 'http://169.254.169.254/' });
  const vertex = ['--preset', 'vertex', '--google-project', 'acme-1', '--no-probe'];
  const refused = await server.capstan(['providers', 'add', 'vertex', ...vertex], { input: account });
  expect(refused.err).toContain('body.google.credentials.token_uri');
  const keys = { AWS_ACCESS_KEY_ID: 'AKIAACMEACMEACMEACME', AWS_SECRET_ACCESS_KEY: 'aws-secret' };
  const bedrock = ['--preset', 'bedrock', '--url', 'https://1.1.1.1', '--aws-region', 'eu-west-1', '--no-probe'];
  const signed = await server.capstan(['providers', 'add', 'bedrock', ...bedrock], { env: keys });
  expect(signed).toMatchObject({ code: 0, err: '', out: expect.stringContaining('eu-west-1') });
  expect(signed.out).not.toContain('aws-secret');
  await run(`providers delete ${idIn(signed.out, 'prv')}`);
});
