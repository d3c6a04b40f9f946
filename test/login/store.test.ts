import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createKey } from '../../src/platform/store/keys.ts';
import {
  deleteLoginCredential,
  findLoginCredential,
  insertLoginCredential,
  listLoginCredentials,
  updateLoginExpiry,
} from '../../src/login/store/credentials.ts';
import { endLoginChallenge, findLoginChallenge, insertLoginChallenge } from '../../src/login/store/challenges.ts';
import {
  claimLoginJob,
  markLoginJobWaiting,
  isLoginUnderWay,
  releaseLoginJob,
  resumeLoginJob,
} from '../../src/login/store/jobs.ts';
import { deleteExpiredLogins, findLoginSession, putLoginSession } from '../../src/login/store/sessions.ts';
import { openEmbeddedDatabase, openPostgresDatabase } from '../support/database.ts';
import type { TestDatabase } from '../support/database.ts';
import { findService } from '../support/find-service.ts';

const postgresUrl = await findService('postgres');
const ADAPTERS = [
  { name: 'postgres', installed: postgresUrl !== undefined, open: () => openPostgresDatabase(postgresUrl ?? '') },
  { name: 'pglite', installed: true, open: openEmbeddedDatabase },
];
const SEALED = { sealed: 'c2VhbGVk', dataKey: 'a2V5', masterKeyId: 'one' };
const HOUR_MS = 3600_000;

describe.each(ADAPTERS.filter(({ installed }) => installed))('what logins keep in $name', ({ open }) => {
  let database: TestDatabase;
  let own: string;
  let other: string;
  const addOrganization = async (organization: string) => {
    const options = { name: 'test', organization, scopes: ['login' as const], requestsPerMinute: 10 };
    await createKey(database.db, options);
    const found = await database.db.query<{ id: string }>('SELECT id FROM organizations WHERE name = $1', [
      organization,
    ]);
    return found.rows[0]?.id ?? '';
  };
  const claim = (id: string, more: Partial<Parameters<typeof claimLoginJob>[1]> = {}) =>
    claimLoginJob(database.db, { id, organizationId: own, key: null, limit: 3, holdMs: HOUR_MS, ...more });

  beforeAll(async () => {
    database = await open();
    own = await addOrganization('own');
    other = await addOrganization('other');
  });
  afterAll(() => database.close());
  beforeEach(() => database.db.query('DELETE FROM login_jobs'));

  test('jobs at the same time are as many as the bound, and one a key', async () => {
    const claims = await Promise.all(Array.from({ length: 8 }, (_, number) => claim(`job_${number}`)));
    expect(claims.filter((each) => each === 'taken')).toHaveLength(3);
    expect(claims.filter((each) => each === 'too-many')).toHaveLength(5);
    expect(await claim('job_else', { organizationId: other, key: 'k' })).toBe('taken');
    expect(await claim('job_same', { organizationId: other, key: 'k' })).toBe('under-way');
    expect(await isLoginUnderWay(database.db, other, 'k')).toBe(true);
    expect(await isLoginUnderWay(database.db, own, 'k')).toBe(false);
    await releaseLoginJob(database.db, own, 'job_else');
    expect(await isLoginUnderWay(database.db, other, 'k')).toBe(true);
    await releaseLoginJob(database.db, other, 'job_else');
    expect(await isLoginUnderWay(database.db, other, 'k')).toBe(false);
  });

  test('jobs that wait for an answer are bounded by themselves, and count again when they go on', async () => {
    for (const id of ['a', 'b', 'c']) expect(await claim(id)).toBe('taken');
    expect(await markLoginJobWaiting(database.db, other, 'a', 2)).toBe(false);
    const held = await Promise.all(['a', 'b', 'c'].map((id) => markLoginJobWaiting(database.db, own, id, 2)));
    expect(held.filter(Boolean)).toHaveLength(2);
    expect(await claim('d')).toBe('taken');
    expect(await claim('e')).toBe('taken');
    expect(await claim('f')).toBe('too-many');
    for (const id of ['a', 'b', 'c']) await resumeLoginJob(database.db, own, id);
    await releaseLoginJob(database.db, own, 'd');
    await releaseLoginJob(database.db, own, 'e');
    expect(await claim('g')).toBe('too-many');
  });

  test('what a crashed process claimed is free again in time', async () => {
    expect(await claim('gone', { key: 'k', limit: 1, holdMs: -1 })).toBe('taken');
    expect(await isLoginUnderWay(database.db, own, 'k')).toBe(false);
    expect(await claim('next', { key: 'k', limit: 1 })).toBe('taken');
  });

  test('sessions belong to their organization and end in time', async () => {
    const expiresAt = new Date(Date.now() + HOUR_MS);
    await putLoginSession(database.db, own, 'key', { ...SEALED, expiresAt });
    await putLoginSession(database.db, other, 'key', { ...SEALED, sealed: 'b3RoZXI', expiresAt });
    expect(await findLoginSession(database.db, own, 'key')).toMatchObject({ ...SEALED, expiresAt });
    expect(await findLoginSession(database.db, other, 'key')).toBeUndefined();
    await putLoginSession(database.db, own, 'old', { ...SEALED, expiresAt: new Date(Date.now() - 1) });
    expect(await findLoginSession(database.db, own, 'old')).toBeUndefined();
    await deleteExpiredLogins(database.db);
    expect((await database.db.query('SELECT key FROM login_sessions')).rows).toEqual([{ key: 'key' }]);
  });

  test('challenges are known to their organization, over or not', async () => {
    const expiresAt = new Date(Date.now() + HOUR_MS);
    await insertLoginChallenge(database.db, { id: 'chl', organizationId: own, owner: 'wrk', kind: 'totp', expiresAt });
    expect(await findLoginChallenge(database.db, own, 'chl')).toEqual({ owner: 'wrk', over: false });
    expect(await findLoginChallenge(database.db, other, 'chl')).toBeUndefined();
    await endLoginChallenge(database.db, other, 'chl');
    expect(await findLoginChallenge(database.db, own, 'chl')).toEqual({ owner: 'wrk', over: false });
    await endLoginChallenge(database.db, own, 'chl');
    expect(await findLoginChallenge(database.db, own, 'chl')).toEqual({ owner: 'wrk', over: true });
  });

  test('credentials are listed newest first, changed and forgotten by their organization alone', async () => {
    const base = { ...SEALED, organizationId: own, collectionId: null, domain: 'https://example.com', method: 'email' };
    for (const id of ['crd_1', 'crd_2']) {
      const names = { id, username: id, sessionKey: `key-${id}`, expiresAt: null };
      await insertLoginCredential(database.db, { ...base, ...names });
    }
    const ids = (await listLoginCredentials(database.db, own)).map(({ credentialId }) => credentialId);
    expect(ids).toEqual(['crd_2', 'crd_1']);
    expect(await listLoginCredentials(database.db, other)).toEqual([]);
    expect(await findLoginCredential(database.db, other, 'crd_1')).toBeUndefined();
    const expiresAt = new Date(Date.now() + HOUR_MS);
    await updateLoginExpiry(database.db, other, 'crd_1', expiresAt);
    expect((await findLoginCredential(database.db, own, 'crd_1'))?.shown.expiresAt).toBeNull();
    await updateLoginExpiry(database.db, own, 'crd_1', expiresAt);
    const found = await findLoginCredential(database.db, own, 'crd_1');
    expect(found).toMatchObject({ ...SEALED, sessionKey: 'key-crd_1' });
    expect(found?.shown.expiresAt).toBe(expiresAt.toISOString());
    expect(await deleteLoginCredential(database.db, other, 'crd_1')).toBeUndefined();
    expect(await deleteLoginCredential(database.db, own, 'crd_1')).toBe('key-crd_1');
    expect(await deleteLoginCredential(database.db, own, 'crd_1')).toBeUndefined();
  });
});
