import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { writeJournal } from '../../../../src/agents/store/journal.ts';
import { writeReference } from '../../../../src/agents/contract/attachments.ts';
import type { Session } from '../../../../src/agents/contract/sessions.ts';
import { newId } from '../../../../src/platform/ids.ts';
import { buildRawEvent } from '../../../support/events.ts';
import { makeAgent, makeSession, openApi } from '../harness.ts';
import type { Api } from '../harness.ts';

let api: Api;
let folder: string;
beforeAll(async () => {
  api = await openApi();
  folder = mkdtempSync(join(tmpdir(), 'capstan-export-'));
});
afterAll(async () => {
  await api.close();
  rmSync(folder, { recursive: true, force: true });
});

async function unpack(path: string): Promise<string[]> {
  const reply = await api.app.inject({ method: 'GET', url: path, headers: { 'x-api-key': api.key } });
  expect([reply.statusCode, reply.headers['content-type']]).toEqual([200, 'application/octet-stream']);
  const target = mkdtempSync(join(folder, 'x-'));
  writeFileSync(join(folder, 'all.tar'), reply.rawPayload);
  execFileSync('tar', ['-xf', join(folder, 'all.tar'), '-C', target]);
  current = target;
  return readdirSync(target, { recursive: true, withFileTypes: true })
    .filter((found) => found.isFile())
    .map((found) => join(found.parentPath, found.name).slice(target.length + 1))
    .sort();
}
let current = '';
const read = (path: string) => readFileSync(join(current, path), 'utf8');

test('an export holds all that is kept about the subject, and nothing of others', async () => {
  const agentId = await makeAgent(api);
  const base = `/v1/agents/${agentId}/users`;
  const sessionId = await makeSession(api, agentId, { title: 'First' });
  const other = await makeSession(api, agentId, { subjectId: 'bob' });
  await api.backends.objects.put(`attachments/${sessionId}/1-a`, Buffer.from('picture'), { contentType: 'image/png' });
  const dataUrl = writeReference({
    mediaType: 'image/png',
    sizeBytes: 7,
    sha256: '0'.repeat(64),
    key: `attachments/${sessionId}/1-a`,
  });
  const message = { type: 'user.message', content: [{ type: 'text', text: 'Hello' }], attachments: [{ dataUrl }] };
  for (const id of [sessionId, other]) {
    const events = Array.from({ length: 51 }, () => buildRawEvent(message, { id: newId('evt') }));
    await writeJournal(api.backends.db, [{ sessionId: id, epoch: null, events }]);
  }
  await api.call('PUT', `${base}/anna/memory`, { body: { content: 'likes tea' } });
  await api.call('POST', `${base}/anna/automations`, { body: { prompt: 'Say hi.', schedule: 'every 1d' } });
  await api.call('PUT', `${base}/anna/files/content`, { body: { path: 'dir/note é.txt', content: 'hello' } });
  await api.call('PUT', `${base}/bob/files/content`, { body: { path: 'secret', content: 'x' } });

  expect(await unpack(`${base}/anna/export`)).toEqual([
    'approvals.json',
    'automations.json',
    'files/dir/note é.txt',
    'memory/memory.md',
    'memory/user.md',
    `sessions/${sessionId}/attachments/1-a`,
    `sessions/${sessionId}/events-000001.ndjson`,
    `sessions/${sessionId}/events-000002.ndjson`,
    `sessions/${sessionId}/session.json`,
    'subject.json',
  ]);
  expect(JSON.parse(read('subject.json'))).toMatchObject({ object: 'subject.export', agentId, subjectId: 'anna' });
  expect(read('memory/user.md')).toBe('likes tea');
  expect(JSON.parse(read('automations.json'))).toMatchObject([{ prompt: 'Say hi.' }]);
  expect((JSON.parse(read(`sessions/${sessionId}/session.json`)) as Session).title).toBe('First');
  const [first = ''] = read(`sessions/${sessionId}/events-000001.ndjson`).split('\n');
  expect(JSON.parse(first)).toMatchObject({ payload: { attachments: [{ dataUrl: 'attachments/1-a' }] } });
  expect(read(`sessions/${sessionId}/attachments/1-a`)).toBe('picture');
  expect(read('files/dir/note é.txt')).toBe('hello');
});

test('an export of an unknown subject is almost empty', async () => {
  const agentId = await makeAgent(api);
  expect(await unpack(`/v1/agents/${agentId}/users/nobody/export`)).toEqual([
    'approvals.json',
    'automations.json',
    'memory/memory.md',
    'memory/user.md',
    'subject.json',
  ]);
  expect((await api.call('GET', '/v1/agents/agt_none/users/nobody/export')).status).toBe(404);
});
