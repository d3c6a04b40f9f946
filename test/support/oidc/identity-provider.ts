import { createServer } from 'node:http';
import { exportJWK, generateKeyPair } from 'jose';
import { Provider } from 'oidc-provider';

export const CLIENT = { id: 'capstan', secret: 'secret-of-the-tests-0123456789' };
export const SERVICE = { id: 'robot', secret: 'secret-of-a-robot-0123456789' };

async function makeKeys() {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  return { keys: [{ ...(await exportJWK(privateKey)), use: 'sig', alg: 'RS256', kid: crypto.randomUUID() }] };
}

/** `role@organization` is who that is: the login names both. */
function describeAccount(login: string) {
  const [group = '', organization = 'default'] = login.split('@');
  const email = `${group}@${organization}.example`;
  return { sub: login, email, name: `Person ${login}`, groups: [group, 'everybody'], org: organization };
}

const RESOURCE = 'urn:capstan';
/** The same server; tokens for it expire at once, but for the difference of clocks that the server allows. */
export const BRIEF = 'urn:capstan:brief';
/** The same server; its tokens say that the robot is a viewer by now. */
export const VIEWER = 'urn:capstan:viewer';
const OWN = [RESOURCE, BRIEF, VIEWER];

function buildConfiguration(jwks: object, base: string) {
  return {
    jwks,
    clients: [
      {
        client_id: CLIENT.id,
        client_secret: CLIENT.secret,
        redirect_uris: [`${base}/v1/sign-ins/oidc/callback`],
        post_logout_redirect_uris: [`${base}/console/signin`],
        backchannel_logout_uri: `${base}/v1/sign-ins/oidc/backchannel-logout`,
        backchannel_logout_session_required: true,
      },
      {
        client_id: SERVICE.id,
        client_secret: SERVICE.secret,
        grant_types: ['client_credentials'],
        redirect_uris: [],
        response_types: [],
      },
    ],
    claims: { openid: ['sub'], email: ['email'], profile: ['name'], groups: ['groups', 'org'] },
    findAccount: (_context: unknown, login: string) => ({
      accountId: login,
      claims: async () => describeAccount(login),
    }),
    cookies: { keys: ['tests'] },
    // It refuses addresses of this machine by itself, and the server to sign out has one.
    fetch: (url: string, { dispatcher: _dispatcher, ...init }: RequestInit & { dispatcher?: unknown }) =>
      fetch(url, init),
    pkce: { required: () => true },
    extraTokenClaims: ({ oidc }: { oidc: { params?: { resource?: unknown } } }) => ({
      ...describeAccount(oidc.params?.resource === VIEWER ? 'viewer@default' : 'operator@default'),
      sub: undefined,
    }),
    features: {
      devInteractions: { enabled: true },
      rpInitiatedLogout: { enabled: true },
      backchannelLogout: { enabled: true },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: (_context: unknown, client: { clientId: string }) =>
          client.clientId === SERVICE.id ? RESOURCE : undefined,
        useGrantedResource: () => false,
        getResourceServerInfo: (_context: unknown, resource: string) => ({
          scope: '',
          audience: OWN.includes(resource) ? CLIENT.id : resource,
          ...(resource === BRIEF ? { accessTokenTTL: 1 } : {}),
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: 'RS256' } },
        }),
      },
    },
  };
}

/** A real identity provider for a server at `base`. It signs in anybody by their login; the password is anything. */
export async function startIdentityProvider(base: string) {
  let handle: ReturnType<Provider['callback']> | undefined;
  let isDown = false;
  const server = createServer((request, response) => {
    if (isDown) response.destroy();
    else handle?.(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const issuer = `http://127.0.0.1:${address.port}`;
  const rotate = async () => {
    handle = new Provider(issuer, buildConfiguration(await makeKeys(), base)).callback();
  };
  await rotate();
  return {
    issuer,
    /** From now on it signs with another key, and has forgotten who was signed in. */
    rotate,
    setDown: (down: boolean) => (isDown = down),
    /** An access token for the server, or for another one where `resource` is named. */
    async getAccessToken(resource?: string): Promise<string> {
      const response = await fetch(`${issuer}/token`, {
        method: 'POST',
        headers: { authorization: `Basic ${btoa(`${SERVICE.id}:${SERVICE.secret}`)}` },
        body: new URLSearchParams({
          grant_type: 'client_credentials',
          ...(resource === undefined ? {} : { resource }),
        }),
      });
      const { access_token: token } = (await response.json()) as { access_token?: string };
      if (token === undefined) throw new Error(`no token: ${response.status}`);
      return token;
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
export type IdentityProvider = Awaited<ReturnType<typeof startIdentityProvider>>;
