import type { SiteSession } from './contract/shapes.ts';
import { untilAborted } from '../platform/abort.ts';
import { listLoginCredentials } from './store/credentials.ts';
import { openCredentialService } from './credentials.ts';
import type { LoginPorts } from './deps.ts';
import { toLoginError } from './errors.ts';
import { Logins } from './logins.ts';
import { findRegistrableDomain } from './site.ts';

type Session = { credentialId: string; storageState: unknown; origins: string[]; expiresAt: string };
type AccountQuery = { site: string; credentialId?: string };

/** An agent waits for this login. */
const TIMEOUT_SECONDS = 120;

function readHost(text: string): string | undefined {
  const host = URL.parse(text.includes('://') ? text : `https://${text}`)?.hostname;
  return host === undefined || host === '' ? undefined : findRegistrableDomain(host);
}

/** Signs in on behalf of callers inside the process: the agents' tool. */
export function buildWebsiteAccounts(ports: LoginPorts) {
  const find = async (organizationId: string, { site, credentialId }: AccountQuery) => {
    const host = readHost(site);
    if (host === undefined) return { fault: 'site: must be the address or the domain of a website' };
    const all = await listLoginCredentials(ports.db, organizationId);
    const fitting = all.filter(({ domain }) => readHost(domain) === host);
    const chosen = credentialId === undefined ? fitting : fitting.filter((each) => each.credentialId === credentialId);
    const [one, ...more] = chosen;
    if (one === undefined) return { fault: `No ${fitting.length > 0 ? 'such ' : ''}credential is stored for ${host}.` };
    if (more.length === 0) return { id: one.credentialId };
    const list = chosen.map((each) => `${each.credentialId} (${each.username ?? 'no user name'})`).join(', ');
    return { fault: `Several credentials are stored for ${host}; say which by credential_id: ${list}` };
  };

  const refresh = async (organizationId: string, credentialId: string) => {
    const logins = new Logins(ports);
    try {
      const body = { credentialId, force: false, timeoutSeconds: TIMEOUT_SECONDS };
      const credentials = openCredentialService(ports, logins);
      const answer = await ports.loginMetrics.measure('tool', () => credentials.refresh(organizationId, body));
      const { storageState, origins, expiresAt = '' } = answer.body as SiteSession;
      return { session: { credentialId, storageState, origins, expiresAt } satisfies Session };
    } catch (error) {
      const fault = toLoginError(error, 0);
      if (fault.code === 'server_error') throw error;
      return { fault: `${fault.code}: ${fault.message}` };
    } finally {
      // No person can answer a challenge here.
      logins.close();
    }
  };

  return {
    async signIn(
      organizationId: string,
      wanted: AccountQuery,
      signal: AbortSignal,
    ): Promise<{ session: Session } | { fault: string }> {
      const found = await find(organizationId, wanted);
      if (found.fault !== undefined) return { fault: found.fault };
      // The job of an interrupted login continues on its own, and its session is cached for the next call.
      signal.throwIfAborted();
      return untilAborted(refresh(organizationId, found.id), signal);
    },
  };
}
