import type { LoginMethod, LoginCred } from './contract/shapes.ts';
import { LoginError } from './login-error.ts';
import { buildSite } from './site.ts';
import type { Site } from './site.ts';

/** Another service, on whose pages the credentials are typed. */
export type IdentityProvider = {
  /** how its button is found: lower case, as `google` */
  name: string;
  /** words of the button, where the caller gives them */
  label: string | undefined;
  /** its own pages */
  site: Site;
};

/** The page and further domains of the providers that methods name. */
const KNOWN: Partial<Record<LoginMethod, { name: string; domains: readonly [string, ...string[]] }>> = {
  oauth_google: { name: 'google', domains: ['https://accounts.google.com/'] },
  oauth_github: { name: 'github', domains: ['https://github.com/login'] },
  oauth_microsoft: {
    name: 'microsoft',
    domains: ['https://login.microsoftonline.com/', 'https://login.live.com/', 'https://account.microsoft.com/'],
  },
};

const isByProvider = (method: LoginMethod) => method === 'oauth' || method in KNOWN;

/** The name of a service by its host: `acme` of `login.acme.com`. */
function nameHost(host: string): string {
  const labels = host.split('.');
  return labels.at(-2) ?? host;
}

/** The provider of a login by OAuth; undefined for other methods. Throws `validation_error` or `unsafe_domain`. */
export function readIdentityProvider(loginMethod: LoginMethod, cred: LoginCred): IdentityProvider | undefined {
  if (!isByProvider(loginMethod)) return undefined;
  for (const field of ['username', 'password'] as const) {
    if (cred[field] === undefined) throw new LoginError('validation_error', `cred.${field}: is required`);
  }
  const known = KNOWN[loginMethod];
  const { url, name: label } = cred.identityProvider ?? {};
  const [first, ...more] = url === undefined ? (known?.domains ?? []) : [url];
  if (first === undefined) throw new LoginError('validation_error', 'cred.identityProvider: is required');
  const site = buildSite(first, more);
  return { name: known?.name ?? nameHost(site.url.hostname), label, site };
}
