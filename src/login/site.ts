import { parse } from 'tldts';
import { LoginError } from './login-error.ts';

/** The site of a request, and the domains that belong to it. */
export type Site = {
  /** the start page, without fragment and credentials */
  url: URL;
  /** registrable domains, or hosts without one (IP addresses, `localhost`); the site's own first */
  domains: readonly string[];
  /** Whether a URL belongs to the site, without a downgrade from HTTPS to HTTP. */
  allows(url: string | URL): boolean;
  /** Whether a cookie of this domain belongs to the site. */
  ownsCookie(domain: string): boolean;
};

/** Honours private suffixes: `alice.github.io` and `bob.github.io` are different sites. */
export function findRegistrableDomain(hostname: string): string {
  const host = hostname
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '')
    .toLowerCase();
  return parse(host, { allowPrivateDomains: true }).domain ?? host;
}

/** `affiliates`: domains or URLs that the caller declares to be part of the site. Throws `unsafe_domain`. */
export function buildSite(address: string, affiliates: readonly string[] = []): Site {
  const url = URL.parse(address);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new LoginError('unsafe_domain', 'domain: must be a URL of http or https.');
  }
  if (url.username !== '' || url.password !== '') {
    throw new LoginError('unsafe_domain', 'domain: must not contain credentials.');
  }
  url.hash = '';
  const domains = [url.hostname, ...affiliates.map(readAffiliate)].map(findRegistrableDomain);
  const secure = url.protocol === 'https:';
  return {
    url,
    domains,
    allows(input) {
      const page = URL.parse(String(input));
      if (page === null) return false;
      if (page.protocol !== 'https:' && (page.protocol !== 'http:' || secure)) return false;
      return domains.includes(findRegistrableDomain(page.hostname));
    },
    ownsCookie: (domain) => domains.includes(findRegistrableDomain(domain.replace(/^\./, ''))),
  };
}

function readAffiliate(text: string): string {
  const url = URL.parse(text.includes('://') ? text : `https://${text}`);
  const host = url?.hostname ?? '';
  const { domain, isIp } = parse(host, { allowPrivateDomains: true });
  // A public suffix would allow every site below it.
  if (host === '' || (domain === null && isIp !== true && host.includes('.'))) {
    throw new LoginError('unsafe_domain', 'additionalFields.allowedDomains: must hold registrable domains.');
  }
  if (domain === null && isIp !== true && host !== 'localhost') {
    throw new LoginError('unsafe_domain', 'additionalFields.allowedDomains: must hold registrable domains.');
  }
  return host;
}
