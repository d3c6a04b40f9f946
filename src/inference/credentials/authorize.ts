// Tests: test/inference/credentials
import { ModelError } from '../model.ts';
import type { UpstreamTarget } from '../upstream/dialect.ts';
import { signAws } from './aws.ts';
import type { SignedRequest } from './aws.ts';
import { getGoogleToken } from './google.ts';

/** The credentials of this machine are the operator's: an organization needs its own. */
function requireOwnKeys({ isGuarded, aws }: UpstreamTarget): void {
  if (isGuarded !== true || aws?.secretAccessKey !== undefined) return;
  throw new ModelError('authentication', 'The provider has no credentials.');
}

/** The headers of a call for which a fixed key does not suffice; a key of the target comes first. */
export async function authorize(target: UpstreamTarget, request: SignedRequest): Promise<Record<string, string>> {
  const { apiKey, aws, google } = target;
  if (apiKey !== undefined || (aws === undefined && google === undefined)) return request.headers;
  requireOwnKeys(target);
  if (aws !== undefined) return { ...request.headers, ...(await signAws(aws, request)) };
  return google === undefined
    ? request.headers
    : { ...request.headers, authorization: `Bearer ${await getGoogleToken(google)}` };
}
