// Tests: test/inference/credentials
import type { Dispatcher } from 'undici';
import { ModelError } from '../model.ts';
import type { UpstreamTarget } from '../upstream/dialect.ts';
import { signAws } from './aws.ts';
import type { SignedRequest } from './aws.ts';
import { getGoogleToken } from './google.ts';

/** The credentials of this machine are the operator's: an organization needs its own. */
function requireOwnKeys({ isGuarded, aws, google }: UpstreamTarget): void {
  const hasOwn = aws === undefined ? google?.credentials !== undefined : aws.secretAccessKey !== undefined;
  if (isGuarded !== true || hasOwn) return;
  throw new ModelError('authentication', 'The provider has no credentials.');
}

/**
 * The headers of a call for which a fixed key does not suffice; a key of the target comes first. `guard` connects to the
 * token services of guarded targets.
 */
export async function authorize(
  target: UpstreamTarget,
  request: SignedRequest,
  guard?: Dispatcher,
): Promise<Record<string, string>> {
  const { apiKey, aws, google, isGuarded } = target;
  if (apiKey !== undefined || (aws === undefined && google === undefined)) return request.headers;
  requireOwnKeys(target);
  if (aws !== undefined) return { ...request.headers, ...(await signAws(aws, request)) };
  if (google === undefined) return request.headers;
  if (isGuarded === true && guard === undefined) {
    throw new ModelError('upstream', 'Providers of organizations cannot be called here.');
  }
  const token = await getGoogleToken(google, isGuarded === true ? guard : undefined);
  return { ...request.headers, authorization: `Bearer ${token}` };
}
