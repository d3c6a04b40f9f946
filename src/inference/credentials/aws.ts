// Tests: test/inference/credentials/aws.test.ts
import type { SignatureV4 } from '@smithy/signature-v4';
import { ModelError } from '../model.ts';
import type { AwsAccess } from './config.ts';

export type SignedRequest = {
  method: string;
  origin: string;
  /** with the query */
  path: string;
  headers: Record<string, string>;
  body?: string | Uint8Array | undefined;
};

/** A provider's signer, with the credentials that it has obtained. */
const signers = new WeakMap<AwsAccess, Promise<SignatureV4>>();

async function buildSigner({ region, accessKeyId, secretAccessKey, sessionToken }: AwsAccess): Promise<SignatureV4> {
  const [{ SignatureV4: Signer }, { Sha256Node: sha256 }] = await Promise.all([
    import('@smithy/signature-v4'),
    import('@smithy/core/checksum'),
  ]);
  const service = 'bedrock';
  if (accessKeyId !== undefined && secretAccessKey !== undefined) {
    const token = sessionToken === undefined ? {} : { sessionToken };
    return new Signer({ sha256, service, region, credentials: { accessKeyId, secretAccessKey, ...token } });
  }
  const { defaultProvider } = await import('@aws-sdk/credential-provider-node');
  return new Signer({ sha256, service, region, credentials: defaultProvider({ clientConfig: { region } }) });
}

function splitPath(path: string): { path: string; query: Record<string, string> } {
  const url = new URL(path, 'http://localhost');
  return { path: path.split('?', 1)[0] ?? path, query: Object.fromEntries(url.searchParams) };
}

/**
 * The headers that sign a request by Signature Version 4. Throws a `ModelError` if no credentials are found. Only the
 * host and the type of the body are signed besides the body: proxies may change other headers.
 */
export async function signAws(access: AwsAccess, request: SignedRequest): Promise<Record<string, string>> {
  const signer = signers.get(access) ?? buildSigner(access);
  signers.set(access, signer);
  const { host, hostname, protocol } = new URL(request.origin);
  const type = request.headers['content-type'];
  try {
    const signed = await (
      await signer
    ).sign({
      method: request.method,
      protocol,
      hostname,
      ...splitPath(request.path),
      headers: { host, ...(type === undefined ? {} : { 'content-type': type }) },
      body: request.body,
    });
    const { host: _host, ...headers } = signed.headers;
    return headers;
  } catch (cause) {
    throw new ModelError('authentication', 'The AWS credentials of the provider could not be obtained.', { cause });
  }
}
