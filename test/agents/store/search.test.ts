import { fc } from '../../support/property.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Db } from '../../../src/platform/db/db.ts';
import { newId } from '../../../src/platform/ids.ts';
import { writeJournal } from '../../../src/agents/store/journal.ts';
import { readMessages, listRecentSessions, readSearchText, searchMessages } from '../../../src/agents/store/search.ts';
import { buildRawEvent } from '../../support/events.ts';
import { openEmbeddedDatabase } from '../../support/database.ts';
import type { TestDatabase } from '../../support/database.ts';

let database: TestDatabase;
let db: Db;
beforeAll(async () => {
  database = await openEmbeddedDatabase();
  ({ db } = database);
});
afterAll(() => database.close());

type Owner = { organizationId: string; agentId: string; subjectId: string };

async function makeAgent(organizationId: string): Promise<string> {
  const agentId = newId('agt');
  await db.query('INSERT INTO organizations (id, name) VALUES ($1, $1) ON CONFLICT DO NOTHING', [organizationId]);
  await db.query(
    `INSERT INTO agents (id, organization_id, name, conversations_per_minute, messages_per_minute, latest_version, production_version)
     VALUES ($1, $2, 'a', 1, 1, 0, 0)`,
    [agentId, organizationId],
  );
  await db.query(
    `INSERT INTO agent_versions (id, agent_id, version, model_name, system_prompt, skills, tools, roles, mcp_servers, metadata)
     VALUES ('ver_' || $1::text, $1, 0, 'm', '', '[]', '[]', '[]', '[]', '{}')`,
    [agentId],
  );
  return agentId;
}

async function makeSession(owner: Owner, texts: readonly string[]): Promise<string> {
  const sessionId = newId('ses');
  await db.query(
    `INSERT INTO sessions (id, organization_id, agent_id, agent_version_id, agent_version, subject_id, title_fixed)
     VALUES ($1, $2, $3, 'ver_' || $3::text, 0, $4, false)`,
    [sessionId, owner.organizationId, owner.agentId, owner.subjectId],
  );
  const events = texts.map((text, index) =>
    buildRawEvent({ type: index % 2 === 0 ? 'user.message' : 'agent.message', content: [{ type: 'text', text }] }),
  );
  await writeJournal(db, [{ sessionId, epoch: null, events }]);
  return sessionId;
}

const find = (owner: Owner, text: string, more: object = {}) =>
  searchMessages(db, owner, { text, limit: 10, sort: 'relevance', roles: ['user', 'assistant'], exclude: '', ...more });

describe('a search', () => {
  let owner: Owner;
  let sessions: string[];
  beforeAll(async () => {
    owner = { organizationId: 'org_find', agentId: await makeAgent('org_find'), subjectId: 'anna' };
    sessions = [
      await makeSession(owner, ['How do I deploy the billing service?', 'Run make deploy-billing in the repository.']),
      await makeSession(owner, ['Billing is down', 'The database was full.', 'thanks', 'You are welcome.']),
      await makeSession(owner, ['Tell me about the Großbäckerei', 'It bakes bread.']),
    ];
  });
  const found = async (text: string, more: object = {}) =>
    (await find(owner, text, more)).hits
      .map(({ session }) => sessions.indexOf(session.sessionId))
      .sort((a, b) => a - b);

  it.each([
    ['billing', [0, 1]],
    ['billing deploy', [0]],
    ['deploying services', [0]],
    ['bread OR database', [1, 2]],
    ['billing NOT deploy', [1]],
    ['"database was full"', [1]],
    ['"full database"', []],
    ['data*', [1]],
    ['bill* depl*', [0]],
    ['Großbäckerei', [2]],
    ['the', []],
    ['nothing of this kind', []],
  ])('for %j finds what was said', async (text, expected) => {
    expect(await found(text)).toEqual(expected);
  });

  it('searches the given roles, and not its own session', async () => {
    expect(await found('billing', { roles: ['assistant'] })).toEqual([0]);
    expect(await found('billing', { exclude: sessions[0] })).toEqual([1]);
  });

  it('sorts by time where it is asked to', async () => {
    const order = async (sort: string) =>
      (await find(owner, 'billing', { sort })).hits.map(({ session }) => sessions.indexOf(session.sessionId));
    expect(await order('newest')).toEqual([1, 0]);
    expect(await order('oldest')).toEqual([0, 1]);
  });

  it('finds the newest and the oldest session of a word that occurs in more messages than are ranked', async () => {
    const chatty = { ...owner, subjectId: 'chatty' };
    const told: string[] = [];
    for (let n = 0; n < 4; n += 1) {
      told.push(
        await makeSession(
          chatty,
          Array.from({ length: 300 }, (_, index) => `weather report ${n} ${index}`),
        ),
      );
    }
    for (const [sort, id] of [
      ['newest', told.at(-1)],
      ['oldest', told[0]],
    ]) {
      expect((await find(chatty, 'weather', { sort })).hits[0]?.session.sessionId).toBe(id);
    }
  });

  it('shows the matches with the surrounding text', async () => {
    const { hits, sessions: searched } = await find(owner, 'database');
    expect(searched).toBe(3);
    expect(hits[0]).toMatchObject({ messageId: 2, role: 'assistant', snippet: '>>>database<<< was full' });
    const places = hits.map(({ session, messageId }) => ({ sessionId: session.sessionId, messageId }));
    const view = (await readMessages(db, owner, places, { window: 1, first: 0, last: 1 })).get(sessions[1] ?? '');
    expect(view?.messages.map(({ id }) => id)).toEqual([1, 2, 3, 4]);
    expect([view?.before, view?.after]).toEqual([1, 2]);
  });

  it('forgets a session that is deleted', async () => {
    const id = await makeSession(owner, ['ephemeral']);
    expect((await find(owner, 'ephemeral')).hits).toHaveLength(1);
    await db.query('DELETE FROM sessions WHERE id = $1', [id]);
    expect((await find(owner, 'ephemeral')).hits).toEqual([]);
  });

  it('accepts any text as a query', async () => {
    const texts = fc.oneof(fc.string(), fc.stringMatching(/^["*\-| a-zA-Z()&:!'\\<]{1,30}$/));
    await fc.assert(
      fc.asyncProperty(texts, async (text) => {
        const { hits } = await find(owner, text.replaceAll('\0', ''));
        expect(hits.length).toBeLessThanOrEqual(3);
      }),
      { numRuns: 200 },
    );
  });

  it('indexes long and strange messages without refusing them', async () => {
    const words = Array.from({ length: 200_000 }, (_, index) => `w${index.toString(36)}`).join(' ');
    const id = await makeSession(owner, [
      words,
      '🙂'.repeat(100_000),
      'x'.repeat(500_000),
      '\u0001\u0002 '.repeat(1000),
    ]);
    expect((await find(owner, 'w1z')).hits.map(({ session }) => session.sessionId)).toEqual([id]);
  });
});

describe('searches of many subjects, agents and organizations', () => {
  it('never show one organization data of another', async () => {
    const agents = [
      { organizationId: 'org_a', agentId: await makeAgent('org_a') },
      { organizationId: 'org_a', agentId: await makeAgent('org_a') },
      { organizationId: 'org_b', agentId: await makeAgent('org_b') },
    ];
    const subjectIds = ['anna', 'bob', 'a', "an'na", '%'];
    const owners: Owner[] = agents.flatMap((agent) => subjectIds.map((subjectId) => ({ ...agent, subjectId })));
    const owned = new Map<string, Owner>();
    const word = fc.constantFrom('walnut', 'oak', 'elm');
    const act = fc.record({ owner: fc.constantFrom(...owners), text: fc.array(word, { minLength: 1, maxLength: 3 }) });
    await fc.assert(
      fc.asyncProperty(fc.array(act, { minLength: 1, maxLength: 4 }), act, async (told, asked) => {
        for (const { owner, text } of told) owned.set(await makeSession(owner, [text.join(' ')]), owner);
        const { hits, sessions } = await find(asked.owner, asked.text.join(' OR '));
        const recent = await listRecentSessions(db, asked.owner, 100, '');
        for (const id of [...hits.map(({ session }) => session.sessionId), ...recent.map((item) => item.sessionId)]) {
          expect(owned.get(id)).toEqual(asked.owner);
        }
        const own = [...owned].filter(([, owner]) => owner === asked.owner).map(([id]) => id);
        expect(sessions).toBe(own.length);
        const all = [...owned.keys()].map((sessionId) => ({ sessionId, messageId: 1 }));
        const views = await readMessages(db, asked.owner, all, { window: 5, first: 5, last: 5 });
        expect([...views.keys()].sort()).toEqual(own.sort());
      }),
      { numRuns: 40 },
    );
  });
});

describe('the text of a search', () => {
  it('is split into words and prefixes, except for quotes', () => {
    expect(readSearchText('foo* NOT bar "a* NOT b" AND x')).toEqual({
      text: '  -bar "a* NOT b"   x',
      prefixes: "'foo':*",
    });
  });
});
