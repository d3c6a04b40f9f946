import type { FastifyInstance } from 'fastify';
import type { Db } from '../../../platform/db/db.ts';
import { buildAnyList } from '../../../platform/contract/common.ts';
import { vaultRoutes } from '../../contract/routes/vaults.ts';
import { normalizeServerUrl } from '../../contract/server-url.ts';
import type { Credential, CredentialCreate, CredentialPatch, CredentialRotation } from '../../contract/vaults.ts';
import { errors } from '../../../platform/errors.ts';
import { newId } from '../../../platform/ids.ts';
import { UnsealError } from '../../../platform/master-key.ts';
import type { MasterKeys } from '../../../platform/master-key.ts';
import {
  archiveCredential,
  deleteCredential,
  describeCredential,
  findCredential,
  listCredentials,
  lockCredential,
  writeSecrets,
} from '../../store/credentials.ts';
import type { NewCredential, StoredCredential } from '../../store/credentials.ts';
import { insertCredential } from '../../store/credentials.ts';
import { rotate, sealSecrets, splitAuth, unsealSecrets } from '../../vaults/secrets.ts';
import type { ApiDeps } from '../deps.ts';
import { registerRoute } from '../../../platform/http/route.ts';
import { archivedVault, getVault } from './find.ts';

type CredentialKey = { vaultId: string; credentialId: string };

/** A credential as it is stored: its secrets sealed. */
export function buildCredential(keys: MasterKeys, vaultId: string, body: CredentialCreate): NewCredential {
  const id = newId('crd');
  const { shown, secrets } = splitAuth(body.auth);
  return {
    id,
    vaultId,
    displayName: body.displayName,
    metadata: body.metadata ?? null,
    auth: shown,
    serverKey: normalizeServerUrl(shown.mcpServerUrl),
    ...sealSecrets(keys, id, secrets),
  };
}

function isSameServer(url: string, stored: string): boolean {
  return URL.canParse(url) && normalizeServerUrl(url) === normalizeServerUrl(stored);
}

function rotateSecrets(keys: MasterKeys, stored: StoredCredential, rotation: CredentialRotation) {
  if (rotation.type !== stored.auth.type) throw errors.validation('auth.type: must be that of the credential');
  // Else the new secret would be sent to the old server.
  const { mcpServerUrl } = rotation;
  if (mcpServerUrl !== undefined && !isSameServer(mcpServerUrl, stored.auth.mcpServerUrl)) {
    throw errors.validation('auth.mcpServerUrl: must be that of the credential');
  }
  if (rotation.type === 'mcp_oauth' && rotation.refresh !== undefined && !stored.refreshable) {
    throw errors.validation('auth.refresh: must not be given for a credential without refresh');
  }
  try {
    const before = rotation.type === 'static_bearer' ? { token: '' } : unsealSecrets(keys, stored.id, stored);
    const { shown, secrets } = rotate(stored.auth, before, rotation);
    return { auth: shown, ...sealSecrets(keys, stored.id, secrets) };
  } catch (error) {
    if (error instanceof UnsealError) throw errors.upstreamFailed('The credential cannot be unsealed.', error);
    throw error;
  }
}

async function patchCredential(
  { db, masterKeys }: { db: Db; masterKeys: MasterKeys },
  organizationId: string,
  { vaultId, credentialId }: CredentialKey,
  body: CredentialPatch,
): Promise<Credential> {
  return await db.transaction(async (tx) => {
    const stored = await lockCredential(tx, organizationId, vaultId, credentialId);
    if (stored === undefined) throw errors.notFound('credential');
    if (stored.archived) throw errors.invalidState('The credential is archived.');
    if (body.auth !== undefined) {
      await writeSecrets(tx, stored.id, stored.revision, rotateSecrets(masterKeys, stored, body.auth));
    }
    return await describeCredential(tx, stored.id, body);
  });
}

export function registerCredentialRoutes(app: FastifyInstance, deps: ApiDeps): void {
  const { db, masterKeys } = deps;

  registerRoute(app, deps, vaultRoutes.createCredential, async ({ params, body, caller }) => {
    const vault = await getVault(db, caller.organizationId, params.vaultId);
    const credential = buildCredential(masterKeys, vault.id, body);
    const made = await insertCredential(db, caller.organizationId, credential);
    if (made === undefined) throw archivedVault();
    return { status: 201, body: made };
  });

  registerRoute(app, deps, vaultRoutes.listCredentials, async ({ params, query, caller }) => {
    const vault = await getVault(db, caller.organizationId, params.vaultId);
    const found = await listCredentials(db, vault.id, query);
    return { status: 200, body: buildAnyList(found.rows, query, found) };
  });

  registerRoute(app, deps, vaultRoutes.getCredential, async ({ params, caller }) => {
    const vault = await getVault(db, caller.organizationId, params.vaultId);
    const credential = await findCredential(db, vault.id, params.credentialId);
    if (credential === undefined) throw errors.notFound('credential');
    return { status: 200, body: credential };
  });

  registerRoute(app, deps, vaultRoutes.patchCredential, async ({ params, body, caller }) => ({
    status: 200,
    body: await patchCredential(deps, caller.organizationId, params, body),
  }));

  registerRoute(app, deps, vaultRoutes.archiveCredential, async ({ params, caller }) => {
    const vault = await getVault(db, caller.organizationId, params.vaultId);
    const credential = await archiveCredential(db, vault.id, params.credentialId);
    if (credential === undefined) throw errors.notFound('credential');
    return { status: 200, body: credential };
  });

  registerRoute(app, deps, vaultRoutes.deleteCredential, async ({ params, caller }) => {
    const vault = await getVault(db, caller.organizationId, params.vaultId);
    if (!(await deleteCredential(db, vault.id, params.credentialId))) throw errors.notFound('credential');
    return { status: 200, body: { object: 'vault_credential.deleted', id: params.credentialId, deleted: true } };
  });
}
