import { createServer } from 'node:net';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { startServer } from '../../cli/server.ts';
import { makeScratch } from '../scratch.ts';
import { CLIENT, startIdentityProvider } from './identity-provider.ts';

/** A port that was free a moment ago: the identity provider has to know the server's address before it starts. */
async function findPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise<void>((resolve) => server.close(() => resolve()));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

export const OWNER_KEY = 'cap_key_of_the_owner_of_the_tests';

/** The whole server as a process of its own, whose people sign in at a real identity provider. */
export async function startPeopleServer(oidc: object = {}) {
  const port = await findPort();
  const base = `http://localhost:${port}`;
  const provider = await startIdentityProvider(base);
  const folder = makeScratch('people');
  const config = join(folder, 'capstan.yaml');
  const roles = Object.fromEntries(
    ['viewer', 'approver', 'builder', 'operator', 'admin', 'owner'].map((role) => [role, role]),
  );
  const own = { issuer: provider.issuer, clientId: CLIENT.id, clientSecretEnv: 'OIDC_CLIENT_SECRET', roles };
  writeFileSync(
    config,
    stringify({
      auth: { oidc: { ...own, scopes: 'openid email profile groups', organizationClaim: 'org', ...oidc } },
    }),
  );
  const server = await startServer({
    CAPSTAN_PORT: String(port),
    CAPSTAN_PUBLIC_URL: base,
    CAPSTAN_CONFIG: config,
    CAPSTAN_API_KEY: OWNER_KEY,
    OIDC_CLIENT_SECRET: CLIENT.secret,
  });
  return {
    base,
    provider,
    server,
    async close() {
      await server.close();
      await provider.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
export type PeopleServer = Awaited<ReturnType<typeof startPeopleServer>>;

/** What the console sends with a change. */
export const CONSOLE = { 'sec-fetch-site': 'same-origin', 'x-capstan-console': '1' };
