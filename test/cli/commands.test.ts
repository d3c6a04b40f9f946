import { symlinkSync, writeFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Agent } from '../../src/agents/contract/agents.ts';
import type { EventEnvelope } from '../../src/agents/contract/events.ts';
import type { ApiKeyCreated } from '../../src/platform/contract/keys.ts';
import type { Session } from '../../src/agents/contract/sessions.ts';
import { startServer, waitFor } from './server.ts';
import type { CliServer } from './server.ts';

let server: CliServer;

beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

async function json<T>(...args: string[]): Promise<T> {
  const { code, out, err } = await server.capstan([...args, '--json']);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return JSON.parse(out) as T;
}

describe('agents', () => {
  it('are made from flags, found by name, changed, promoted, tagged, archived and deleted', async () => {
    const flags = ['--name', 'ada', '--model', 'script/demo', '--tools', 'allow'];
    const made = await json<Agent>('agents', 'create', ...flags);
    expect(made.tools).toMatchObject([{ defaultConfig: { permissionPolicy: { type: 'always_allow' } } }]);
    const changed = await json<Agent>('agents', 'update', 'ada', '--system', 'Be brief.');
    expect(changed).toMatchObject({
      id: made.id,
      productionVersion: 0,
      version: { version: 1, systemPrompt: 'Be brief.' },
    });
    expect((await server.capstan(['agents', 'promote', 'ada', 'v1'])).out).toBe('ada v1 is in production\n');
    expect((await server.capstan(['agents', 'tag', 'ada', 'next', '0'])).out).toBe('next is v0\n');
    expect((await server.capstan(['agents', 'tag', 'ada'])).out).toMatch(/TAG.*\nnext +v0/);
    expect((await server.capstan(['agents', 'versions', 'ada'])).out).toMatch(/v1 production.*Be brief\.\nv0 /s);
    expect((await server.capstan(['agents', 'list'])).out).toMatch(/^ada +script\/demo +v1 +active/m);
    expect((await server.capstan(['agents', 'archive', 'ada'])).out).toBe('Archived ada\n');
    expect((await server.capstan(['agents', 'get', 'ada'])).out).toMatch(/status +archived/);
    expect((await server.capstan(['agents', 'delete', made.id])).out).toBe('Deleted ada\n');
    expect((await json<{ data: Agent[] }>('agents', 'list')).data).toEqual([]);
  }, 180_000);

  it('are made from a file, over which flags go', async () => {
    const file = join(server.dataDir, '../agent.yaml');
    writeFileSync(file, 'name: from-file\nmodelName: script/demo\nskills:\n  - { name: tea, content: Boil water. }\n');
    const agent = await json<Agent>('agents', 'create', '--file', file, '--name', 'renamed');
    expect(agent).toMatchObject({ name: 'renamed', version: { skills: ['tea'] } });
  });

  it('are refused when the file has fields that nothing knows', async () => {
    const file = join(server.dataDir, '../misspelt.yaml');
    writeFileSync(file, 'name: x\nmodel: script/demo\nsystem: Be brief.\n');
    expect(await server.capstan(['agents', 'create', '--file', file])).toMatchObject({
      code: 2,
      err: 'capstan: The definition has unknown fields: model (did you mean modelName?), system (did you mean systemPrompt?)\n',
    });
    const typo = '{ type: agent_toolset, configs: [{ name: terminal, permision: { type: always_deny } }] }';
    writeFileSync(file, `name: x\nmodelName: script/demo\ntools:\n  - ${typo}\n`);
    const { code, err } = await server.capstan(['agents', 'create', '--file', file]);
    expect({ code, err }).toEqual({
      code: 2,
      err: 'capstan: The definition has unknown fields: tools[0].configs[0].permision\n',
    });
  });

  it('with the same name must be named by id', async () => {
    for (const _ of [1, 2]) await json('agents', 'create', '--name', 'twin', '--model', 'script/demo');
    const { code, err } = await server.capstan(['agents', 'get', 'twin']);
    expect({ code, err }).toEqual({ code: 1, err: 'capstan: More than one agent is named twin; use the id.\n' });
  });
});

describe('sessions and events', () => {
  it('are opened, written, listed, followed and ended', async () => {
    await json('agents', 'create', '--name', 'bob', '--model', 'script/demo');
    const session = await json<Session>('sessions', 'create', 'bob', '--subject', 'me');
    const tail = server.start(['events', 'tail', session.id, '--after', '0', '--json']);
    const sent = await server.capstan(['events', 'send', session.id, 'hello']);
    expect(sent.out).toMatch(/^received {2}user\.message {2}evt_/);
    const seen = await waitFor(tail, /"type":"session\.status_idle".*\n/);
    const events = seen
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as EventEnvelope);
    const types = ['user.message', 'session.status_running', 'agent.message', 'session.status_idle'];
    expect(events.slice(0, 4).map((event) => event.type)).toEqual(types);
    expect((await server.capstan(['events', 'list', session.id])).out).toMatch(/3 .*agent\.message +You said: hello\n/);
    expect((await server.capstan(['sessions', 'list', '--agent', 'bob'])).out).toContain(session.id);
    expect((await server.capstan(['sessions', 'archive', session.id])).out).toBe(`Archived ${session.id}\n`);
    expect((await server.capstan(['sessions', 'delete', session.id])).out).toBe(`Deleted ${session.id}\n`);
  });
});

describe('keys', () => {
  it('are made with scopes and a limit, work, and stop when revoked', async () => {
    const flags = ['--org', 'acme', '--scopes', 'agents:read', '--limit', '7'];
    const made = await json<ApiKeyCreated>('keys', 'create', ...flags);
    expect(made).toMatchObject({ organization: 'acme', scopes: ['agents:read'], requestsPerMinute: 7 });
    const env = { CAPSTAN_API_KEY: made.key };
    expect((await server.capstan(['agents', 'list'], { env })).code).toBe(0);
    const refused = await server.capstan(['agents', 'create', '--name', 'x', '--model', 'script/demo'], { env });
    expect(refused).toMatchObject({ code: 1, err: 'capstan: The API key lacks the scope agents:write.\n' });
    await server.capstan(['keys', 'revoke', made.id]);
    expect((await server.capstan(['keys', 'list'])).out).toMatch(new RegExp(`${made.id} .*revoked`));
    expect((await server.capstan(['agents', 'list'], { env })).err).toMatch(
      /^capstan: The API key is missing, invalid or revoked/,
    );
  });
});

describe('mistakes', () => {
  it.each([
    ['an unknown command', ['agnets']],
    ['a missing argument', ['agents', 'get']],
    ['a bad choice', ['agents', 'create', '--tools', 'maybe']],
    ['a missing field', ['agents', 'create', '--name', 'x']],
    ['an unknown scope', ['keys', 'create', '--org', 'acme', '--scopes', 'everything']],
  ])('of usage end with 2: %s', async (_name, args) => {
    const { code, out, err } = await server.capstan(args);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).not.toContain('    at ');
  });

  it('of another kind end with 1 and one line', async () => {
    const { code, err } = await server.capstan(['agents', 'get', 'nobody']);
    expect({ code, err }).toEqual({ code: 1, err: 'capstan: No such agent: nobody\n' });
    const away = await server.capstan(['agents', 'list'], { env: { CAPSTAN_URL: 'http://127.0.0.1:1' } });
    expect(away.code).toBe(1);
    expect(away.err).toMatch(/^capstan: No answer of http:\/\/127\.0\.0\.1:1 .*CAPSTAN_URL\.\n$/);
  });

  it('do not send a key of this machine elsewhere', async () => {
    for (const url of ['http://example.invalid', 'http://127.example.invalid']) {
      const { code, err } = await server.capstan(['agents', 'list'], { env: { CAPSTAN_URL: url } });
      expect(code).toBe(1);
      expect(err).toMatch(/^capstan: No API key/);
    }
  });
});

it('runs through a symlink, and says nothing on stderr', async () => {
  const link = join(server.dataDir, '../linked');
  symlinkSync(fileURLToPath(new URL('../../bin/capstan', import.meta.url)), link);
  const help = execFileSync(link, ['--help'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  expect(help).toMatch(/^Usage: capstan /);
  expect(await server.capstan(['--help'])).toMatchObject({ code: 0, err: '' });
});

describe('credits and templates', () => {
  it('are granted to an organization, and shown', async () => {
    await json('keys', 'create', '--org', 'acme');
    const { out } = await server.capstan(['credits', 'grant', '500', '--org', 'acme']);
    expect(out).toBe('acme has 1500 credits, 0 more are set aside\n');
    const taken = await server.capstan(['credits', 'grant', '--json', '--org', 'acme', '--', '-100']);
    expect(JSON.parse(taken.out)).toEqual({ balance: 1400, reserved: 0 });
    expect(await json('credits', 'show')).toEqual({ balance: 1000, reserved: 0 });
    const bad = await server.capstan(['credits', 'grant', '1.5', '--org', 'acme']);
    expect(bad).toMatchObject({ code: 2, err: 'capstan: The amount must be a whole number.\n' });
    expect(await server.capstan(['credits', 'grant', '1', '--org', 'nobody'])).toMatchObject({
      code: 1,
      err: 'capstan: No such organization.\n',
    });
  });

  it('are applied from a file, again in the place of those that are there', async () => {
    const file = join(server.dataDir, '../templates.yaml');
    const text = (title: string) =>
      `- { id: dawn, title: ${title}, kind: video, modelName: local/storyboard-1, featured: true }\n`;
    for (const title of ['Dawn', 'Dusk']) {
      writeFileSync(file, text(title));
      expect((await server.capstan(['templates', 'apply', '-f', file])).out).toMatch(
        new RegExp(`^dawn .*${title}`, 'm'),
      );
    }
    writeFileSync(file, '- { title: x, kind: song, modelName: m }\n');
    const { code, err } = await server.capstan(['templates', 'apply', '-f', file]);
    expect(code).toBe(2);
    expect(err).toContain('[0].kind: must be one of "image", "video"');
  });
});
