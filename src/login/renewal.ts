import { errorText } from '../platform/errors.ts';
import type { SiteSession } from './contract/shapes.ts';
import type { CredentialService } from './credentials.ts';
import type { LoginPorts } from './deps.ts';
import { claimDueCredentials } from './store/credentials.ts';

/** Concurrent renewals of one process: calls of people come first. */
const AT_ONCE = 2;
/** Longer than a renewal takes; also the wait after a transient error. */
const HOLD_SECONDS = 300;
const TIMEOUT_SECONDS = 120;
/** A working session with less time left is replaced. */
const SHORT_MS = 10 * 60_000;

type Due = { id: string; organizationId: string };

async function renewOne(
  { log }: LoginPorts,
  credentials: CredentialService,
  { id, organizationId }: Due,
): Promise<void> {
  const refresh = (force: boolean) =>
    credentials.refresh(organizationId, { credentialId: id, force, timeoutSeconds: TIMEOUT_SECONDS });
  try {
    // Many sites extend a session that is used, so the old session is tried first.
    const { body, headers } = await refresh(false);
    const { expiresAt } = body as SiteSession;
    const leftMs = expiresAt === undefined ? 0 : Date.parse(expiresAt) - Date.now();
    if (leftMs < SHORT_MS && headers?.['x-session-cache'] !== 'miss') await refresh(true);
  } catch (error) {
    // Errors that need attention are stored in the credential; all others are retried.
    log.info({ credentialId: id, error: errorText(error) }, 'a website session was not renewed');
  }
}

/** Signs in again with credentials whose sessions end soon. Returns true when more may be due. */
export async function renewDueCredentials(ports: LoginPorts, credentials: CredentialService): Promise<boolean> {
  const due = await claimDueCredentials(ports.db, AT_ONCE, HOLD_SECONDS);
  await Promise.all(due.map((each) => renewOne(ports, credentials, each)));
  return due.length === AT_ONCE;
}
