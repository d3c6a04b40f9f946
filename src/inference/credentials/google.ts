// Tests: test/inference/credentials/google.test.ts, test/inference/credentials/service-account.test.ts
import { fetch as undiciFetch } from 'undici';
import type { Dispatcher } from 'undici';
import { ModelError } from '../model.ts';
import type { GoogleAccess } from './config.ts';
import { readServiceAccount } from './service-account.ts';

const SCOPE = 'https://www.googleapis.com/auth/cloud-platform';
const TOKEN_TIMEOUT_MS = 15_000;

/** What obtains tokens and keeps each until it expires. */
type TokenClient = { getAccessToken(): Promise<unknown> };

/** A provider's client. */
const clients = new WeakMap<GoogleAccess, Promise<TokenClient>>();

/** The operator's credentials, of any kind. */
async function openClient({ credentials, credentialsFile }: GoogleAccess): Promise<TokenClient> {
  const { GoogleAuth: Client } = await import('google-auth-library');
  if (credentials !== undefined) {
    const parsed: unknown = JSON.parse(credentials);
    if (typeof parsed !== 'object' || parsed === null) throw new Error('the credentials are no JSON object');
    return new Client({ scopes: SCOPE, credentials: parsed });
  }
  return new Client({ scopes: SCOPE, ...(credentialsFile === undefined ? {} : { keyFilename: credentialsFile }) });
}

/** `fetch` over the dispatcher alone, without redirects. */
function buildGuardedFetch(dispatcher: Dispatcher): typeof fetch {
  return async (input, init) => {
    const request = {
      method: init?.method,
      headers: init?.headers,
      body: init?.body,
      redirect: 'error',
      dispatcher,
      signal: AbortSignal.timeout(TOKEN_TIMEOUT_MS),
    };
    const url = input instanceof Request ? input.url : input;
    return undiciFetch(url, request as Parameters<typeof undiciFetch>[1]);
  };
}

/**
 * The credentials of a caller: a service account and nothing else, because other kinds name addresses to ask, files to
 * read or programs to run.
 */
async function openGuardedClient({ credentials }: GoogleAccess, guard: Dispatcher): Promise<TokenClient> {
  const read = readServiceAccount(credentials);
  if (!('account' in read)) throw new Error(`the credentials: ${read.issue.message}`);
  const { client_email: email, private_key: key, private_key_id: keyId } = read.account;
  const { JWT } = await import('google-auth-library');
  return new JWT({
    email,
    key,
    scopes: SCOPE,
    ...(keyId === undefined ? {} : { keyId }),
    transporterOptions: { fetchImplementation: buildGuardedFetch(guard) },
  });
}

function readToken(answer: unknown): string | undefined {
  const token = typeof answer === 'object' && answer !== null && 'token' in answer ? answer.token : answer;
  return typeof token === 'string' && token !== '' ? token : undefined;
}

/** Whether the token service has answered, with a refusal. */
function isRefusal(cause: unknown): boolean {
  const status = typeof cause === 'object' && cause !== null && 'status' in cause ? cause.status : undefined;
  return typeof status === 'number' && status >= 400 && status < 500;
}

/**
 * A token for Google Cloud. `guard`: the credentials come from a caller, and the token service is asked through it.
 * Throws a `ModelError` if none is obtained.
 */
export async function getGoogleToken(access: GoogleAccess, guard?: Dispatcher): Promise<string> {
  const client = clients.get(access) ?? (guard === undefined ? openClient(access) : openGuardedClient(access, guard));
  clients.set(access, client);
  try {
    const token = readToken(await (await client).getAccessToken());
    if (token !== undefined) return token;
  } catch (cause) {
    const status = isRefusal(cause) ? { status: 401 } : {};
    const message = 'The Google credentials of the provider could not be obtained.';
    throw new ModelError('authentication', message, { cause, ...status });
  }
  throw new ModelError('authentication', 'The Google credentials of the provider gave no token.');
}
