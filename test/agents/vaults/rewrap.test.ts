import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildMasterKeys } from '../../../src/platform/master-key.ts';
import type { MasterKeys } from '../../../src/platform/master-key.ts';
import { findStored, insertCredential } from '../../../src/agents/store/credentials.ts';
import { ensureOrganization } from '../../../src/platform/store/keys.ts';
import { rewrapSecrets } from '../../../src/platform/store/rewrap.ts';
import { ensureAccount, findWebhookSecret } from '../../../src/video/store/credits.ts';
import { insertVault } from '../../../src/agents/store/vaults.ts';
import { SEALED_CREDENTIALS, sealSecrets, unsealSecrets } from '../../../src/agents/vaults/secrets.ts';
import { SEALED_WEBHOOK_SECRETS, ensureWebhookSecret } from '../../../src/video/webhooks/secret.ts';
import { openEmbeddedDatabase } from '../../support/database.ts';
import type { TestDatabase } from '../../support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await openEmbeddedDatabase();
});
afterAll(() => database.close());

const key = (fill: number) => Buffer.alloc(32, fill).toString('base64');

it('a new master key reseals every credential and skips those that it cannot open', async () => {
  const { db } = database;
  const organizationId = await ensureOrganization(db, 'default');
  const vault = await insertVault(db, { organizationId, displayName: 'x', metadata: {} });
  const shown = { type: 'static_bearer', mcpServerUrl: 'https://x' } as const;
  const make = (id: string, keys: MasterKeys) =>
    insertCredential(db, organizationId, {
      id,
      vaultId: vault.id,
      displayName: id,
      metadata: null,
      auth: shown,
      serverKey: 'https://x',
      ...sealSecrets(keys, id, { token: `of ${id}` }),
    });
  for (let number = 0; number < 450; number += 1) await make(`crd_${number}`, buildMasterKeys(key(1)));
  await make('crd_lost', buildMasterKeys(key(9)));
  const next = buildMasterKeys(key(2), key(1));
  expect(await rewrapSecrets(db, next, [SEALED_CREDENTIALS, SEALED_WEBHOOK_SECRETS])).toEqual({
    rewrapped: 450,
    failed: 1,
  });
  expect(await rewrapSecrets(db, next, [SEALED_CREDENTIALS, SEALED_WEBHOOK_SECRETS])).toEqual({
    rewrapped: 0,
    failed: 1,
  });
  const stored = await findStored(db, 'crd_77');
  if (stored === undefined) throw new Error('gone');
  expect(unsealSecrets(buildMasterKeys(key(2)), 'crd_77', stored)).toEqual({ token: 'of crd_77' });
});

it('a change of the master key takes the secrets of webhooks along', async () => {
  const { db } = database;
  const old = buildMasterKeys(key(1));
  const known: [string, string][] = [];
  for (const name of ['one', 'two', 'none']) {
    const id = await ensureOrganization(db, name);
    await ensureAccount(db, id, 0);
    if (name !== 'none') known.push([id, await ensureWebhookSecret({ db, masterKeys: old }, id)]);
  }
  const next = buildMasterKeys(key(2), key(1));
  expect((await rewrapSecrets(db, next, [SEALED_CREDENTIALS, SEALED_WEBHOOK_SECRETS])).rewrapped).toBe(2);
  expect((await rewrapSecrets(db, next, [SEALED_CREDENTIALS, SEALED_WEBHOOK_SECRETS])).rewrapped).toBe(0);
  for (const [id, secret] of known) {
    const sealed = await findWebhookSecret(db, id);
    expect(buildMasterKeys(key(2)).unseal(sealed!, `webhooks/${id}`)).toBe(secret);
  }
});
