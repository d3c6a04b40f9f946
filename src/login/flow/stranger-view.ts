// Tests: test/login/strangers.test.ts
import type { Parser } from 'htmlparser2';
import { CookieJar } from 'tough-cookie';
import type { Egress } from '../../platform/egress/egress.ts';
import type { ElementDescription } from '../detection/description.ts';
import { normalizeText } from '../detection/match.ts';
import { discardBody, findRedirect, hasPasswordField, requestPage } from '../page-request.ts';
import type { ObservedPage } from './page-observer.ts';

const MAX_BYTES = 512 * 1024;
const TIMEOUT_MS = 8000;
const MAX_REDIRECTS = 6;
const MAX_CLICKABLES = 2000;

/** What a visitor without the session is shown, once the cookies that a site gives to everybody are set. */
type StrangerView = { url: URL; status: number; text: string };

/** One visitor of a site, who keeps the cookies that it sets. */
class Stranger {
  readonly #egress: Egress;
  readonly #userAgent: string;
  readonly #cookies = new CookieJar(undefined, { looseMode: true });

  constructor(egress: Egress, userAgent: string) {
    this.#egress = egress;
    this.#userAgent = userAgent;
  }

  /** Follows redirects within the host. Throws where an address cannot be reached. */
  async view(address: string): Promise<StrangerView> {
    let url = new URL(address);
    for (let followed = 0; ; followed += 1) {
      const response = await requestPage(this.#egress, url.href, {
        jar: this.#cookies,
        userAgent: this.#userAgent,
        maxBytes: MAX_BYTES,
        timeoutMs: TIMEOUT_MS,
      });
      const next = findRedirect(response, url.href);
      if (next === undefined || next.host !== url.host || followed >= MAX_REDIRECTS) {
        const text = response.ok ? await response.text() : '';
        if (!response.ok) await discardBody(response);
        return { url, status: response.status, text };
      }
      await discardBody(response);
      url = next;
    }
  }
}

export type StrangerPorts = { egress?: Egress | undefined; userAgent: string };

const addressOf = ({ origin, pathname, search }: URL) => origin + pathname + search;

/**
 * Whether a page is shown to a visitor without the session as well, who has seen the login page: sites that ask for any
 * cookie redirect those without one. False where the page cannot be asked for from here.
 */
export async function isShownToStrangers(
  { egress, userAgent }: StrangerPorts,
  url: string,
  loginUrl: string | undefined,
): Promise<boolean> {
  if (egress === undefined) return false;
  const stranger = new Stranger(egress, userAgent);
  try {
    if (loginUrl !== undefined && new URL(loginUrl).host === new URL(url).host) await stranger.view(loginUrl);
    const seen = await stranger.view(url);
    const isThere = seen.status >= 200 && seen.status < 300 && addressOf(seen.url) === addressOf(new URL(url));
    return isThere && !hasPasswordField(seen.text);
  } catch {
    return false;
  }
}

type Clickable = { path: string; text: string };

/** Links and buttons of an HTML page, without those that its scripts draw. */
function listClickables(HtmlParser: typeof Parser, html: string, base: string): Clickable[] {
  const found: Clickable[] = [];
  let open: Clickable | undefined;
  let depth = 0;
  const parser = new HtmlParser({
    onopentag(name, { href, value }) {
      if (name === 'script' || name === 'style' || name === 'template') depth += 1;
      if (depth > 0 || found.length >= MAX_CLICKABLES) return;
      if (name !== 'a' && name !== 'button' && name !== 'input') return;
      const clickable = { path: URL.parse(href ?? '#', base)?.pathname ?? '', text: value ?? '' };
      if (name !== 'input') open = clickable;
      found.push(clickable);
    },
    ontext(text) {
      if (open !== undefined && open.text.length < 200) open.text += text;
    },
    onclosetag(name) {
      if (name === 'script' || name === 'style' || name === 'template') depth -= 1;
      if (name === 'a' || name === 'button') open = undefined;
    },
  });
  parser.end(html);
  return found;
}

const captionOf = ({ text, ariaLabel, title }: ElementDescription) => normalizeText(text || ariaLabel || title);

/**
 * Whether the control that marks an account is shown to strangers as well: many shops link "My account" for everybody,
 * and some templates "Log out". Pages that scripts draw say nothing.
 */
export async function isMarkerForStrangers(
  { egress, userAgent }: StrangerPorts,
  { observation, signals, url }: ObservedPage,
): Promise<boolean> {
  const id = signals.logout ?? signals.account;
  const marker = observation.frames.flatMap(({ elements }) => elements).find((element) => element.id === id);
  if (egress === undefined || marker === undefined) return false;
  try {
    const seen = await new Stranger(egress, userAgent).view(url);
    if (seen.status >= 300 || hasPasswordField(seen.text)) return false;
    const caption = captionOf(marker);
    const html5 = await import('htmlparser2');
    return listClickables(html5.Parser, seen.text, seen.url.href).some(({ path, text }) => {
      const isSamePath = marker.control === 'link' && path !== seen.url.pathname && path === marker.path;
      return isSamePath || (caption !== '' && normalizeText(text) === caption);
    });
  } catch {
    return false;
  }
}
