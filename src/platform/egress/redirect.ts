import { EgressError } from './error.ts';

export const MAX_REDIRECTS = 5;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** What one request of a chain is made of. */
export type Hop = { url: URL; init: RequestInit };

/** What another origin may be told about a request; anything else could be a credential. */
const SHAREABLE = new Set(['accept', 'accept-language', 'content-type', 'user-agent', 'range']);
const OF_BODY = ['content-type', 'content-length', 'content-encoding', 'content-language', 'content-location'];

export function isRedirect(response: Response): boolean {
  return REDIRECTS.has(response.status) && response.headers.has('location');
}

/** The request that a redirect asks for: methods as browsers change them, credentials for the same origin only. */
export function buildNextHop(hop: Hop, response: Response): Hop {
  const url = URL.parse(response.headers.get('location') ?? '', hop.url.href);
  if (url === null) throw new EgressError('bad_url', `${hop.url.host} redirects to an invalid URL.`);
  const headers = new Headers(hop.init.headers);
  if (url.origin !== hop.url.origin) {
    const names = Array.from(headers.keys());
    for (const name of names) if (!SHAREABLE.has(name)) headers.delete(name);
  }
  const method = (hop.init.method ?? 'GET').toUpperCase();
  const drops = response.status === 303 ? method !== 'HEAD' : response.status < 303 && method === 'POST';
  if (!drops) {
    if (hop.init.body instanceof ReadableStream) {
      throw new EgressError('unreachable', `${hop.url.host} redirects a request whose body cannot be sent again.`);
    }
    return { url, init: { ...hop.init, headers } };
  }
  OF_BODY.forEach((name) => headers.delete(name));
  const { body: _body, ...init } = hop.init;
  return { url, init: { ...init, headers, method: 'GET' } };
}
