import { Cookie, CookieJar } from 'tough-cookie';
import type { SessionCookie } from './contract/shapes.ts';
import type { Egress } from '../platform/egress/egress.ts';
import { EgressError } from '../platform/egress/error.ts';
import { omitUndefined } from '../platform/records.ts';
import type { Fleet } from './browser/fleet.ts';
import { LoginError } from './login-error.ts';
import type { CollectedSession } from './flow/collect.ts';
import { hasLoginForm, isLoginPath } from './flow/evidence.ts';
import { withSite } from './open-site.ts';
import { discardBody, findRedirect, hasPasswordField, requestPage } from './page-request.ts';
import type { Site } from './site.ts';

export type ProbePorts = { egress: Egress; fleet: Fleet };

export type Probed = { organizationId: string; site: Site; session: CollectedSession };

/** The site's answer to a request for the page. */
type Access = 'granted' | 'denied' | 'unknown';

const MAX_BYTES = 1024 * 1024;
const TIMEOUT_MS = 10_000;
const MAX_HOPS = 6;

/**
 * Checks a session on the final page of the login. Returns it with renewed cookies, or undefined if it has ended.
 * Plain requests decide if the page differs without the cookies; otherwise a browser opens the page.
 */
export async function probeSession(
  ports: ProbePorts,
  probed: Probed,
  signal: AbortSignal,
): Promise<CollectedSession | undefined> {
  const { site, session } = probed;
  const jar = fillJar(session.cookies);
  try {
    const signedIn = await requestAccess(ports.egress, probed, { jar, signal });
    if (signedIn === 'denied') return undefined;
    const anonymous = await requestAccess(ports.egress, probed, { jar: new CookieJar(), signal });
    if (signedIn === 'granted' && anonymous === 'denied') return { ...session, ...readJar(jar, site, session) };
  } catch (error) {
    if (error instanceof EgressError) return undefined;
    throw error;
  }
  return (await isSignedInByBrowser(ports, probed, signal)) ? session : undefined;
}

/** Follows redirects within the site. */
async function requestAccess(
  egress: Egress,
  { site, session }: Probed,
  { jar, signal }: { jar: CookieJar; signal: AbortSignal },
): Promise<Access> {
  const request = { jar, signal, userAgent: session.userAgent, maxBytes: MAX_BYTES, timeoutMs: TIMEOUT_MS };
  let { url } = session;
  for (let hop = 0; hop < MAX_HOPS; hop += 1) {
    if (!site.allows(url)) return 'denied';
    const response = await requestPage(egress, url, request);
    const next = findRedirect(response, url);
    if (next !== undefined) {
      await discardBody(response);
      url = next.href;
      continue;
    }
    if (response.status === 401 || response.status === 403) {
      await discardBody(response);
      return 'denied';
    }
    if (response.status >= 400) return 'unknown';
    const text = await response.text();
    const isAtLogin = isLoginPath(url) && !isLoginPath(session.url);
    return isAtLogin || hasPasswordField(text) ? 'denied' : 'granted';
  }
  return 'denied';
}

function fillJar(cookies: readonly SessionCookie[]): CookieJar {
  const jar = new CookieJar(undefined, { rejectPublicSuffixes: false, looseMode: true });
  for (const { name, value, domain, path, expires, secure, httpOnly } of cookies) {
    const host = domain.replace(/^\./, '');
    const cookie = new Cookie({
      key: name,
      value,
      domain: host,
      path,
      secure,
      httpOnly,
      hostOnly: !domain.startsWith('.'),
      expires: expires > 0 ? new Date(expires * 1000) : 'Infinity',
    });
    jar.setCookieSync(cookie, `${secure ? 'https' : 'http'}://${host}${path}`, { ignoreError: true });
  }
  return jar;
}

/** Sites renew cookies with every response: those of the probe are the session from now on. */
function readJar(jar: CookieJar, site: Site, session: CollectedSession) {
  const before = new Map(session.cookies.map((cookie) => [`${cookie.domain}|${cookie.path}|${cookie.name}`, cookie]));
  const cookies = (jar.serializeSync()?.cookies ?? []).flatMap((raw): SessionCookie[] => {
    const cookie = Cookie.fromJSON(raw);
    if (cookie === undefined || cookie.domain === null || !site.ownsCookie(cookie.domain)) return [];
    const domain = cookie.hostOnly === true ? cookie.domain : `.${cookie.domain}`;
    const path = cookie.path ?? '/';
    const old = before.get(`${domain}|${path}|${cookie.key}`);
    const sameSite = { strict: 'Strict', lax: 'Lax', none: 'None' } as const;
    return [
      {
        name: cookie.key,
        value: cookie.value,
        domain,
        path,
        expires: cookie.expires instanceof Date ? Math.floor(cookie.expires.getTime() / 1000) : -1,
        httpOnly: cookie.httpOnly,
        secure: cookie.secure,
        sameSite: old?.sameSite ?? sameSite[(cookie.sameSite ?? 'lax') as keyof typeof sameSite] ?? 'Lax',
        ...omitUndefined({ partitionKey: old?.partitionKey }),
      },
    ];
  });
  return { cookies, storageState: { ...session.storageState, cookies } };
}

async function isSignedInByBrowser(
  { fleet }: ProbePorts,
  { organizationId, site, session }: Probed,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    const options = omitUndefined({ storageState: session.storageState, userAgent: session.userAgent });
    return await withSite({ fleet, signal }, { organizationId, site }, options, async (opened) => {
      await opened.settle(signal);
      const observed = await opened.observer.observe(signal);
      const status = opened.traffic.status;
      return site.allows(observed.url) && status < 400 && !hasLoginForm(observed);
    });
  } catch (error) {
    if (error instanceof LoginError && error.code !== 'capacity') return false;
    throw error;
  }
}
