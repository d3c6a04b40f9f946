import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Memory } from '../../../../src/agents/contract/memory.ts';
import { makeAgent, openApi } from '../harness.ts';
import type { Api } from '../harness.ts';

let api: Api;
let agentId: string;
beforeAll(async () => {
  api = await openApi();
});
afterAll(() => api.close());

const sha = (text: string) => createHash('sha256').update(text).digest('hex');
const put = (path: string, body: object, key = api.key) => api.call<Memory>('PUT', path, { body, key });
const get = (path: string, key = api.key) => api.call<Memory>('GET', path, { key });

describe.each([
  ['the agent’s notes', '/memory', 'agent', 2200],
  ['a subject’s profile', '/users/anna/memory', 'user', 1375],
  ['a subject’s notes', '/users/anna/memory?target=memory', 'memory', 2200],
] as const)('%s', (_name, suffix, target, maxChars) => {
  let path: string;
  beforeAll(async () => {
    agentId = await makeAgent(api);
    path = `/v1/agents/${agentId}${suffix}`;
  });

  it('are empty before anything was written', async () => {
    const reply = await get(path);
    expect([reply.status, reply.body]).toEqual([
      200,
      {
        object: 'memory',
        target,
        content: '',
        entries: [],
        usedChars: 0,
        maxChars,
        checksumSha256: sha(''),
        updatedAt: null,
      },
    ]);
  });

  it('are written as text or as entries, and read as both', async () => {
    const content = 'One.\n§\nTwo\nlines.';
    const written = await put(path, { content });
    expect(written.status).toBe(200);
    expect(written.body).toEqual({
      object: 'memory',
      target,
      content,
      entries: ['One.', 'Two\nlines.'],
      usedChars: 17,
      maxChars,
      checksumSha256: sha(content),
      updatedAt: expect.any(String),
    });
    expect((await put(path, { entries: ['One.', 'Two\nlines.'] })).body.content).toBe(content);
    expect((await get(path)).body.content).toBe(content);
  });

  it('are replaced only if unchanged since the writer read them', async () => {
    const { body } = await put(path, { content: 'first' });
    const stale = await put(path, { content: 'x', expectedChecksumSha256: sha('other') });
    expect([stale.status, (stale.body as unknown as { error: string }).error]).toEqual([409, 'conflict']);
    expect((await get(path)).body.content).toBe('first');
    const expected = { expectedChecksumSha256: body.checksumSha256.toUpperCase() };
    expect((await put(path, { content: 'second', ...expected })).status).toBe(200);
    const racers = await Promise.all(
      Array.from({ length: 5 }, (_, racer) =>
        put(path, { content: `${racer}`, expectedChecksumSha256: sha('second') }),
      ),
    );
    expect(racers.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  it('hold as many characters as they may, whatever they are, and not one more', async () => {
    expect((await put(path, { content: '🙂'.repeat(maxChars) })).body.usedChars).toBe(maxChars);
    const over = await put(path, { content: 'a'.repeat(maxChars + 1) });
    expect([over.status, (over.body as unknown as { error: string }).error]).toEqual([400, 'validation_error']);
    expect((await put(path, { entries: ['a'.repeat(maxChars - 3), 'b'] })).status).toBe(400);
  });

  it.each([
    ['neither', {}],
    ['both', { content: 'a', entries: ['a'] }],
    ['a blank entry', { entries: ['a', ' '] }],
    ['two entries in one', { entries: ['a\n§\nb'] }],
    ['a checksum that is none', { content: 'a', expectedChecksumSha256: 'abc' }],
  ])('are not written from %s', async (_what, body) => {
    expect((await put(path, body)).status).toBe(400);
  });

  it('name the entry that is refused', async () => {
    const { body } = await put(path, { entries: ['a', ' '] });
    expect((body as unknown as { message: string }).message).toBe('entries[1]: must be one entry with text');
  });

  it('are emptied', async () => {
    await put(path, { content: 'x' });
    const deleted = await api.call('DELETE', path);
    expect([deleted.status, deleted.body]).toEqual([200, { object: 'memory.deleted', target, deleted: true }]);
    expect((await get(path)).body).toMatchObject({ content: '', entries: [] });
    expect((await api.call('DELETE', path)).status).toBe(200);
  });

  it('are not there for another organization', async () => {
    expect((await get(path, api.otherKey)).status).toBe(404);
    expect((await put(path, { content: 'x' }, api.otherKey)).status).toBe(404);
    expect((await api.call('DELETE', path, { key: api.otherKey })).status).toBe(404);
  });
});

describe('the documents of a subject', () => {
  it('belong to one subject, and default to the profile', async () => {
    const agent = await makeAgent(api);
    const other = await makeAgent(api);
    const of = (owner: string, subject: string) => `/v1/agents/${owner}/users/${subject}/memory`;
    await put(of(agent, 'anna'), { content: 'profile' });
    await put(`${of(agent, 'anna')}?target=memory`, { content: 'notes' });
    expect((await get(`${of(agent, 'anna')}?target=user`)).body.content).toBe('profile');
    expect((await get(`${of(agent, 'anna')}?target=memory`)).body.content).toBe('notes');
    for (const path of [of(agent, 'bob'), of(other, 'anna'), `/v1/agents/${agent}/memory`]) {
      expect((await get(path)).body.content).toBe('');
    }
    expect((await get(`${of(agent, 'anna')}?target=agent`)).status).toBe(400);
  });
});
