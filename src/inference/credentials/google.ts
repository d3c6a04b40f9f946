// Tests: test/inference/credentials/google.test.ts
import type { GoogleAuth } from 'google-auth-library';
import { ModelError } from '../model.ts';
import type { GoogleAccess } from './config.ts';

const SCOPE = 'https://www.googleapis.com/auth/cloud-platform';

/** A provider's client, which keeps a token until it expires. */
const clients = new WeakMap<GoogleAccess, Promise<GoogleAuth>>();

async function openClient({ credentials, credentialsFile }: GoogleAccess): Promise<GoogleAuth> {
  const { GoogleAuth: Client } = await import('google-auth-library');
  if (credentials !== undefined) {
    const parsed: unknown = JSON.parse(credentials);
    if (typeof parsed !== 'object' || parsed === null) throw new Error('the credentials are no JSON object');
    return new Client({ scopes: SCOPE, credentials: parsed });
  }
  return new Client({ scopes: SCOPE, ...(credentialsFile === undefined ? {} : { keyFilename: credentialsFile }) });
}

/** A token for Google Cloud. Throws a `ModelError` if none is obtained. */
export async function getGoogleToken(access: GoogleAccess): Promise<string> {
  const client = clients.get(access) ?? openClient(access);
  clients.set(access, client);
  try {
    const token = await (await client).getAccessToken();
    if (typeof token === 'string' && token !== '') return token;
  } catch (cause) {
    throw new ModelError('authentication', 'The Google credentials of the provider could not be obtained.', { cause });
  }
  throw new ModelError('authentication', 'The Google credentials of the provider gave no token.');
}
