import { copyFileSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sha256 } from '../../src/platform/crypto.ts';
import { openPglite } from '../../src/platform/db/pglite.ts';
import { runMigrations } from '../../src/platform/store/migrate.ts';
import type { EventEnvelope } from '../../src/agents/contract/events.ts';
import { openRestarts } from '../support/restarts.ts';
import type { Restarts } from '../support/restarts.ts';

const MIGRATIONS = new URL('../../src/platform/store/migrations/', import.meta.url);
/** The last one of the release that wrote the data: before the audit, the usage ledger, webhooks and budgets. */
const OLD = 28;
const OLD_KEY = 'cap_key_of_an_older_release_of_this_server';

const PAYLOADS = [
  { type: 'user.message', content: [{ type: 'text', text: 'The word is heron.' }] },
  { type: 'session.status_running' },
  { type: 'agent.message', text: 'I keep it in mind.' },
  { type: 'session.status_idle', stop_reason: { type: 'end_turn' } },
];

let restarts: Restarts;
beforeAll(async () => {
  restarts = await openRestarts('older-data');
  const older = join(restarts.folder, 'tmp', 'migrations');
  mkdirSync(older);
  for (const name of readdirSync(MIGRATIONS)) {
    if (Number(name.slice(0, 4)) <= OLD) copyFileSync(new URL(name, MIGRATIONS), join(older, name));
  }
  const db = await openPglite({ dataDir: join(restarts.folder, 'database') });
  try {
    await runMigrations(db, pathToFileURL(`${older}/`));
    await db.query(`INSERT INTO organizations (id, name) VALUES ('org_old', 'old')`);
    await db.query(
      `INSERT INTO api_keys (id, organization_id, name, prefix, key_sha256, scopes, requests_per_minute)
       VALUES ('key_old', 'org_old', 'Old', 'cap_key_of', $1, '{agents:read,agents:write,inference}', 500)`,
      [sha256(OLD_KEY)],
    );
    await db.exec(`
      INSERT INTO model_usage (organization_id, key_id, model, day, requests, input_tokens, cost_usd)
        VALUES ('org_old', 'key_old', 'acme/small', '2026-01-31', 7, 700, 0.5);
      INSERT INTO agents (id, organization_id, name, conversations_per_minute, messages_per_minute, latest_version,
        production_version) VALUES ('agt_old', 'org_old', 'Old', 60, 60, 0, 0);
      INSERT INTO agent_versions (id, agent_id, version, model_name, system_prompt, skills, tools, roles, mcp_servers,
        metadata) VALUES ('ver_old', 'agt_old', 0, 'script/demo', 'Be brief.', '[]', '[]', '[]', '[]', '{}');
      INSERT INTO sessions (id, organization_id, agent_id, agent_version_id, agent_version, subject_id, title, title_fixed,
        last_sequence) VALUES ('ses_old', 'org_old', 'agt_old', 'ver_old', 0, 'anna', 'Before', true, 4);
      INSERT INTO turns (id, session_id, organization_id, state, steps, started_at, ended_at)
        VALUES ('trn_old', 'ses_old', 'org_old', 'ended', 1, now(), now());`);
    for (const [index, payload] of PAYLOADS.entries()) {
      await db.query(
        `INSERT INTO events (session_id, sequence, id, type, turn_id, status, payload, processed_at, created_at)
         VALUES ('ses_old', $1, $2, $3, 'trn_old', $4, $5::jsonb, now(), '2026-01-31T09:30:00Z')`,
        [
          index + 1,
          `evt_old_${index + 1}`,
          payload.type,
          payload.type === 'user.message' ? 'processed' : null,
          JSON.stringify(payload),
        ],
      );
    }
  } finally {
    await db.close();
  }
});
afterAll(() => restarts.close());

test('a data folder of an older release is brought up to date: keys, sessions, events and usage are there', async () => {
  const { url } = await restarts.start();
  const call = async <T>(path: string, body?: object): Promise<T> => {
    const response = await fetch(url + path, {
      headers: { 'x-api-key': OLD_KEY, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    });
    expect([path, response.ok]).toEqual([path, true]);
    return (await response.json()) as T;
  };
  expect(await call('/v1/me')).toMatchObject({ organization: 'old', keyId: 'key_old', requestsPerMinute: 500 });
  expect(await call('/v1/sessions')).toMatchObject({ data: [{ id: 'ses_old', title: 'Before', status: 'idle' }] });
  const list = async () => (await call<{ data: EventEnvelope[] }>('/v1/sessions/ses_old/events?limit=100')).data;
  const before = await list();
  expect(before.map(({ payload }) => payload)).toEqual(PAYLOADS.map((payload) => expect.objectContaining(payload)));
  expect(await call('/v1/usage?from=2026-01-31&to=2026-01-31')).toMatchObject({
    data: [{ model: 'acme/small', keyId: 'key_old', day: '2026-01-31', requests: 7, inputTokens: 700, costUsd: 0.5 }],
  });
  await call('/v1/sessions/ses_old/events', {
    events: [{ type: 'user.message', content: [{ type: 'text', text: 'run: echo on we go' }] }],
  });
  await expect.poll(async () => (await list()).at(-1)?.type).toBe('session.status_idle');
  const after = await list();
  expect(after.slice(0, 4)).toEqual(before);
  expect(JSON.stringify(after.slice(4))).toContain('on we go');
  const usage = await call<{ totals: { requests: number } }>('/v1/usage?source=agents&groupBy=session');
  expect(usage).toMatchObject({ data: [{ sessionId: 'ses_old' }] });
});
