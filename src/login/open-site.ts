import { setTimeout as sleep } from 'node:timers/promises';
import type { BrowserContextOptions, Page, Response } from 'playwright-core';
import { errorText } from '../platform/errors.ts';
import type { Fleet, BrowserSlot } from './browser/fleet.ts';
import { addPasskeys } from './browser/passkeys.ts';
import type { Authenticator, PasskeyUse } from './browser/passkeys.ts';
import { guardCalls } from './browser/call-guard.ts';
import { installDetection } from './detection/observe.ts';
import { LoginError } from './login-error.ts';
import { openPageObserver } from './flow/page-observer.ts';
import type { PageObserver } from './flow/page-observer.ts';
import { Traffic } from './flow/traffic.ts';
import type { Site } from './site.ts';

/** The open page of a job, with its observers. */
export type OpenedSite = {
  slot: BrowserSlot;
  traffic: Traffic;
  observer: PageObserver;
  /** origins that the top frame has visited */
  visited: Set<string>;
  /** the first response; null if the site requires HTTP authentication and sends no page */
  first: Response | null;
  /** the site requires HTTP Basic or Digest authentication, or rejected the credentials */
  requiresHttpAuth: boolean;
  /** of the account's passkeys */
  authenticator: Authenticator | undefined;
  /** Resolves once the network has been idle for 400 ms, or after 5 s. */
  settle(signal: AbortSignal): Promise<void>;
};

const SETTLED_MS = 400;
const SETTLE_AT_MOST_MS = 5000;

/** Opens the site's page in a browser slot of its own, passes it to `use`, and closes it afterwards. */
export async function withSite<T>(
  { fleet, signal }: { fleet: Fleet; signal: AbortSignal },
  input: { organizationId: string; site: Site; passkeys?: PasskeyUse | undefined },
  options: Pick<BrowserContextOptions, 'httpCredentials' | 'storageState' | 'userAgent'>,
  use: (opened: OpenedSite) => Promise<T>,
): Promise<T> {
  const slot = await fleet.open({ organizationId: input.organizationId, signal, ...options });
  const over = AbortSignal.any([signal, slot.lost]);
  // Closing the context ends pending calls into the browser.
  const end = () => void slot.close();
  over.addEventListener('abort', end, { once: true });
  try {
    over.throwIfAborted();
    const { site } = input;
    const traffic = new Traffic(slot.context, (url) => site.allows(url));
    slot.proxy.watchSubmits((target) => traffic.readOwed(target));
    const observer = openPageObserver(slot.context, site);
    const visited = new Set<string>();
    await installDetection(slot.context);
    const page = slot.context.pages()[0] ?? (await slot.context.newPage());
    const authenticator = input.passkeys && (await addPasskeys(slot.context, input.passkeys));
    if (options.httpCredentials === undefined) {
      // Not awaited: the page can load meanwhile.
      const maySend = (body: string) => traffic.mayBeSent(body);
      const guard = (each: Page) => void guardCalls(each, maySend).catch(() => undefined);
      slot.context.on('page', guard);
      guard(page);
    }
    page.on('framenavigated', (frame) => {
      const origin = frame.parentFrame() === null ? URL.parse(frame.url())?.origin : undefined;
      if (origin !== undefined && origin !== 'null') visited.add(origin);
    });
    let answered: Response | undefined;
    page.on('response', (response) => {
      if (response.request().isNavigationRequest() && response.frame() === page.mainFrame()) answered = response;
    });
    const open = () =>
      page.goto(site.url.href, { waitUntil: 'domcontentloaded', timeout: 0 }).catch((error: unknown) => {
        // The browser shows an error page of its own for a refusal without a body.
        if (options.httpCredentials !== undefined && answered?.status() === 401) return answered;
        throw error;
      });
    const first = await goTo(open, slot);
    const settle = async (until: AbortSignal) => {
      const start = performance.now();
      while (performance.now() - start < SETTLE_AT_MOST_MS) {
        if (traffic.countPending() === 0 && traffic.sinceLastRequestMs() >= SETTLED_MS) return;
        await sleep(SETTLED_MS / 4, undefined, { signal: until });
      }
    };
    return await use({
      slot,
      traffic,
      observer,
      visited,
      first,
      authenticator,
      settle,
      requiresHttpAuth: first === null || isChallenge(first),
    });
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (slot.lost.aborted) {
      throw new LoginError('capacity', 'The browser exited during the login.', { cause: error });
    }
    throw error;
  } finally {
    over.removeEventListener('abort', end);
    // Not awaited: the slot stays in use until the context is closed.
    void slot.close();
  }
}

/** Throws `unsafe_domain` or `site_unreachable` when the page does not load. */
async function goTo(go: () => Promise<Response | null>, { proxy }: BrowserSlot): Promise<Response | null> {
  let response: Response | null;
  try {
    response = await go();
  } catch (error) {
    if (proxy.refused.length > 0) throw buildRefusal();
    const code = /net::(ERR_[A-Z_]+)/.exec(errorText(error))?.[1];
    // No person can answer the browser's prompt for user name and password.
    if (code === 'ERR_INVALID_AUTH_CREDENTIALS') return null;
    throw new LoginError('site_unreachable', 'The site could not be reached.', {
      ...(code === undefined ? {} : { details: { reason: code.toLowerCase() } }),
      cause: error,
    });
  }
  const url = URL.parse(response?.url() ?? '');
  const port = url?.port === '' ? (url.protocol === 'https:' ? '443' : '80') : url?.port;
  const fault = proxy.faults.get(`${url?.hostname.replace(/^\[(.*)\]$/, '$1')}:${port}`);
  if (fault?.code === 'refused') throw buildRefusal();
  if (fault !== undefined && (response?.status() ?? 0) === 502) {
    throw new LoginError('site_unreachable', 'The site could not be reached.', { cause: fault });
  }
  return response;
}

const HTTP_AUTHENTICATION = /^[ \t]*(?:basic|digest)\b/im;

function isChallenge(response: Response): boolean {
  return response.status() === 401 && HTTP_AUTHENTICATION.test(response.headers()['www-authenticate'] ?? '');
}

function buildRefusal(): LoginError {
  return new LoginError('unsafe_domain', 'domain: leads to an address that is not on the public internet.', {
    details: { reason: 'private_address' },
  });
}
