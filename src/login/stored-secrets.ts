import type { IdentityProviderRef, LoginMailbox, LoginMethod } from './contract/shapes.ts';
import { recordSecretRead } from '../platform/store/secret-reads.ts';
import type { CredentialChange, NewCredential, StoredCredential } from './contract/credentials.ts';
import { newId } from '../platform/ids.ts';
import { UnsealError } from '../platform/master-key.ts';
import { omitUndefined } from '../platform/records.ts';
import { readTotp } from './answers.ts';
import type { LoginPorts } from './deps.ts';
import { LoginError } from './login-error.ts';
import { loginCredentialContext } from './sealed-credentials.ts';
import { listFields, readAllowedDomains, readLoginRequest } from './service.ts';
import type { LoginJobRequest } from './service.ts';
import {
  findLoginCredential,
  insertLoginCredential,
  replaceLoginSecrets,
  setAutoRefresh,
} from './store/credentials.ts';
import { deleteLoginSession } from './store/sessions.ts';

/** The encrypted part of a stored credential. Optional fields are absent in credentials of a signup. */
export type Secrets = {
  loginUrl: string;
  username: string | undefined;
  password: string | undefined;
  allowedDomains: string[];
  mailbox?: LoginMailbox | undefined;
  loginMethod?: LoginMethod | undefined;
  totpSecret?: string | undefined;
  identityProvider?: IdentityProviderRef | undefined;
  /** values for other fields of the form */
  fields?: Record<string, unknown> | undefined;
};

const TIMEOUT_SECONDS = 60;

/** The login for a stored credential. */
export function buildLogin(
  ports: LoginPorts,
  organizationId: string,
  { secrets, timeoutSeconds }: { secrets: Secrets; timeoutSeconds: number },
): LoginJobRequest {
  const { loginUrl, allowedDomains, fields, loginMethod } = secrets;
  const { username, password, mailbox, totpSecret, identityProvider } = secrets;
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
  });
}

/** Throws `not_found`, or `server_error` if the master key is missing. */
export async function readSecrets(ports: LoginPorts, organizationId: string, credentialId: string) {
  const stored = await findLoginCredential(ports.db, organizationId, credentialId);
  if (stored === undefined) throw new LoginError('not_found', 'No such credential.');
  try {
    const text = ports.masterKeys.unseal(stored, loginCredentialContext(credentialId));
    const read = { type: 'credential', id: credentialId, changes: { domain: stored.shown.domain } };
    await recordSecretRead(ports.db, organizationId, read);
    return { stored, secrets: JSON.parse(text) as Secrets };
  } catch (error) {
    if (!(error instanceof UnsealError)) throw error;
    throw new LoginError('server_error', 'The credential cannot be unsealed: its master key has gone.');
  }
}

function seal({ masterKeys }: LoginPorts, id: string, secrets: Secrets) {
  return masterKeys.seal(JSON.stringify(secrets), loginCredentialContext(id));
}

/** Stores an existing account. Throws `method_not_available`, `unsafe_domain` or `validation_error`. */
export async function createCredential(
  ports: LoginPorts,
  organizationId: string,
  { domain, loginMethod, cred, collectionId, additionalFields, autoRefresh }: NewCredential,
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
    }),
  };
  if (secrets.totpSecret !== undefined) readTotp(secrets.totpSecret);
  const { key: sessionKey } = buildLogin(ports, organizationId, { secrets, timeoutSeconds: TIMEOUT_SECONDS });
  const id = newId('crd');
  await insertLoginCredential(ports.db, {
    ...seal(ports, id, secrets),
    id,
    organizationId,
    collectionId: collectionId ?? null,
    domain,
    username: cred.username ?? null,
    method: loginMethod,
    sessionKey,
    expiresAt: null,
    autoRefresh,
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
  const { mailbox = old.mailbox, totpSecret = old.totpSecret } = cred;
  return {
    ...old,
    username: cred.username ?? old.username,
    password: cred.password ?? old.password,
    mailbox: mailbox ?? undefined,
    totpSecret: totpSecret ?? undefined,
    loginMethod: loginMethod ?? old.loginMethod,
    ...(additionalFields !== undefined && {
      fields: listProofAndFields(additionalFields),
      allowedDomains: readAllowedDomains(additionalFields),
    }),
  };
}

const hasSecrets = ({ cred, additionalFields, loginMethod }: CredentialChange) =>
  cred !== undefined || additionalFields !== undefined || loginMethod !== undefined;

/** Changes a stored credential. New secrets delete its session. */
export async function updateCredential(
  ports: LoginPorts,
  organizationId: string,
  { credentialId, change }: { credentialId: string; change: CredentialChange },
): Promise<StoredCredential> {
  const { stored, secrets: old } = await readSecrets(ports, organizationId, credentialId);
  const { loginMethod, autoRefresh = stored.shown.autoRefresh } = change;
  if (hasSecrets(change)) {
    const secrets = changeSecrets(old, change);
    if (secrets.totpSecret !== undefined) readTotp(secrets.totpSecret);
    const { key: sessionKey } = buildLogin(ports, organizationId, { secrets, timeoutSeconds: TIMEOUT_SECONDS });
    await replaceLoginSecrets(ports.db, organizationId, credentialId, {
      ...seal(ports, credentialId, secrets),
      username: secrets.username ?? null,
      method: loginMethod ?? stored.shown.method,
      sessionKey,
      autoRefresh,
    });
    await deleteLoginSession(ports.db, organizationId, stored.sessionKey);
  } else {
    await setAutoRefresh(ports.db, organizationId, credentialId, autoRefresh);
  }
  return (await readSecrets(ports, organizationId, credentialId)).stored.shown;
}
