import { recordSecretRead } from '../platform/store/secret-reads.ts';
import type { CredentialChange, NewCredential, StoredCredential } from './contract/credentials.ts';
import { newId } from '../platform/ids.ts';
import { UnsealError } from '../platform/master-key.ts';
import { omitUndefined } from '../platform/records.ts';
import { readTotp } from './answers.ts';
import type { LoginPorts } from './deps.ts';
import { LoginError } from './login-error.ts';
import { sealSecrets, unsealSecrets } from './sealed-credentials.ts';
import type { Secrets } from './sealed-credentials.ts';
import { checkPasskeys, replacePasskeys } from './stored-passkeys.ts';
import { listFields, readAllowedDomains, readLoginRequest } from './service.ts';
import type { LoginJobRequest } from './service.ts';
import {
  findLoginCredential,
  insertLoginCredential,
  replaceLoginSecrets,
  updateLoginOptions,
} from './store/credentials.ts';
import { deleteLoginSession } from './store/sessions.ts';

const TIMEOUT_SECONDS = 60;

/** The login for a stored credential. */
export function buildLogin(
  ports: LoginPorts,
  organizationId: string,
  { secrets, timeoutSeconds }: { secrets: Secrets; timeoutSeconds: number },
): LoginJobRequest {
  const { loginUrl, allowedDomains, fields, loginMethod } = secrets;
  const { username, password, mailbox, totpSecret, identityProvider, passkeys } = secrets;
  const additionalFields = { ...fields, ...(allowedDomains.length > 0 && { allowedDomains }) };
  // A signup's password is valid for a login even if the method `password` is switched off.
  const methods = loginMethod === undefined ? (['password'] as const) : ports.methods;
  return readLoginRequest({ ...ports, methods }, organizationId, {
    domain: loginUrl,
    loginMethod: loginMethod ?? 'password',
    cred: omitUndefined({ username, password, mailbox, totpSecret, identityProvider }),
    ...(Object.keys(additionalFields).length > 0 && { additionalFields }),
    useCache: true,
    timeoutSeconds,
    ...omitUndefined({ passkeys }),
  });
}

/** Throws for secrets that no login can use. Returns the key of their session. */
function checkSecrets(ports: LoginPorts, organizationId: string, secrets: Secrets): string {
  const { key, site, provider } = buildLogin(ports, organizationId, { secrets, timeoutSeconds: TIMEOUT_SECONDS });
  checkPasskeys(secrets.passkeys ?? [], provider === undefined ? [site] : [site, provider.site]);
  if (secrets.totpSecret !== undefined) readTotp(secrets.totpSecret);
  return key;
}

/** Throws `not_found`, or `server_error` if the master key is missing. */
export async function readSecrets(ports: LoginPorts, organizationId: string, credentialId: string) {
  const stored = await findLoginCredential(ports.db, organizationId, credentialId);
  if (stored === undefined) throw new LoginError('not_found', 'No such credential.');
  try {
    const secrets = unsealSecrets(ports, credentialId, stored);
    const read = { type: 'credential', id: credentialId, changes: { domain: stored.shown.domain } };
    await recordSecretRead(ports.db, organizationId, read);
    return { stored, secrets };
  } catch (error) {
    if (!(error instanceof UnsealError)) throw error;
    throw new LoginError('server_error', 'The credential cannot be unsealed: its master key has gone.');
  }
}

/** Stores an existing account. Throws `method_not_available`, `unsafe_domain` or `validation_error`. */
export async function createCredential(
  ports: LoginPorts,
  organizationId: string,
  { domain, loginMethod, cred, collectionId, additionalFields, autoRefresh, enrolPasskey }: NewCredential,
): Promise<StoredCredential> {
  const secrets: Secrets = {
    loginUrl: domain,
    username: cred.username,
    password: cred.password,
    allowedDomains: readAllowedDomains(additionalFields),
    loginMethod,
    fields: listProofAndFields(additionalFields),
    ...omitUndefined({
      mailbox: cred.mailbox,
      totpSecret: cred.totpSecret,
      identityProvider: cred.identityProvider,
      passkeys: cred.passkeys,
    }),
  };
  const sessionKey = checkSecrets(ports, organizationId, secrets);
  const id = newId('crd');
  await insertLoginCredential(ports.db, {
    ...sealSecrets(ports, id, secrets),
    id,
    organizationId,
    collectionId: collectionId ?? null,
    domain,
    username: cred.username ?? null,
    method: loginMethod,
    sessionKey,
    expiresAt: null,
    autoRefresh,
    passkeys: cred.passkeys?.length ?? 0,
    enrolPasskey,
  });
  const { stored } = await readSecrets(ports, organizationId, id);
  return stored.shown;
}

/** All fields except `allowedDomains`, which is stored separately. */
function listProofAndFields(fields: Record<string, unknown> = {}): Record<string, unknown> {
  const { successSelector, successUrl } = fields;
  return { ...listFields(fields), ...omitUndefined({ successSelector, successUrl }) };
}

function changeSecrets(old: Secrets, { cred = {}, additionalFields, loginMethod }: CredentialChange): Secrets {
  const { mailbox = old.mailbox, totpSecret = old.totpSecret, passkeys } = cred;
  const changed = passkeys === undefined ? old.passkeys : passkeys && replacePasskeys(old.passkeys ?? [], passkeys);
  return {
    ...old,
    username: cred.username ?? old.username,
    password: cred.password ?? old.password,
    mailbox: mailbox ?? undefined,
    totpSecret: totpSecret ?? undefined,
    passkeys: changed ?? undefined,
    loginMethod: loginMethod ?? old.loginMethod,
    ...(additionalFields !== undefined && {
      fields: listProofAndFields(additionalFields),
      allowedDomains: readAllowedDomains(additionalFields),
    }),
  };
}

const hasSecrets = ({ cred, additionalFields, loginMethod }: CredentialChange) =>
  cred !== undefined || additionalFields !== undefined || loginMethod !== undefined;

/** How often a change is made again because a login has changed the passkeys meanwhile. */
const MAX_TRIES = 5;

/** Changes a stored credential. New secrets delete its session. */
export async function updateCredential(
  ports: LoginPorts,
  organizationId: string,
  { credentialId, change }: { credentialId: string; change: CredentialChange },
): Promise<StoredCredential> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const { stored, secrets: old } = await readSecrets(ports, organizationId, credentialId);
    const { loginMethod, autoRefresh = stored.shown.autoRefresh, enrolPasskey = stored.shown.enrolPasskey } = change;
    const options = { autoRefresh, enrolPasskey };
    if (!hasSecrets(change)) {
      await updateLoginOptions(ports.db, organizationId, credentialId, options);
      return (await readSecrets(ports, organizationId, credentialId)).stored.shown;
    }
    const secrets = changeSecrets(old, change);
    const sessionKey = checkSecrets(ports, organizationId, secrets);
    const isReplaced = await replaceLoginSecrets(ports.db, organizationId, credentialId, {
      ...sealSecrets(ports, credentialId, secrets),
      ...options,
      before: stored.sealed,
      username: secrets.username ?? null,
      method: loginMethod ?? stored.shown.method,
      sessionKey,
      passkeys: secrets.passkeys?.length ?? 0,
    });
    if (!isReplaced) continue;
    await deleteLoginSession(ports.db, organizationId, stored.sessionKey);
    return (await readSecrets(ports, organizationId, credentialId)).stored.shown;
  }
  throw new LoginError('conflict', 'The credential is being changed.');
}
