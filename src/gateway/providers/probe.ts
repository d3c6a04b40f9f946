// Tests: test/gateway/providers.test.ts, test/gateway/provider-credentials.test.ts
import type { ProviderConfig } from '../../inference/config.ts';
import { openInference } from '../../inference/inference.ts';
import { ModelError } from '../../inference/model.ts';
import type { RawRequest } from '../../inference/transport.ts';
import type { Egress } from '../../platform/egress/egress.ts';
import type { Logger } from '../../platform/log.ts';
import { isRecord } from '../../platform/records.ts';
import type { ProviderProbe } from '../contract/providers.ts';

const TIMEOUT_MS = 15_000;
const MAX_MODELS = 100;
const MAX_ID = 400;

/** `field`: the field of the request that is at fault, if the call failed. */
export type ProbeResult = { probe: ProviderProbe; field: string };

/** A call that costs nothing and needs the credentials. */
type ProbeCall = RawRequest & {
  /** whether the provider checks the credentials before it rejects the body, which is not complete */
  isRejected?: true;
};

/** Models that are asked where the provider is saved without models. */
const KNOWN = { bedrock: 'amazon.nova-micro-v1:0', vertex: 'gemini-2.5-flash' };

function buildCall({ format, google, models }: ProviderConfig): ProbeCall {
  const headers = { accept: 'application/json' };
  const post = { method: 'POST' as const, headers: { ...headers, 'content-type': 'application/json' } };
  if (format === 'converse') {
    const path = `/model/${encodeURIComponent(models?.[0]?.id ?? KNOWN.bedrock)}/converse`;
    return { ...post, path, body: '{"messages":[]}', isRejected: true };
  }
  if (google === undefined) return { method: 'GET', path: '/models', headers };
  const path = `/models/${encodeURIComponent(models?.[0]?.id ?? KNOWN.vertex)}:countTokens`;
  return { ...post, path, body: JSON.stringify({ contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] }) };
}

/** The ids in a list of models, in OpenAI's, Anthropic's or Google's shape. */
function readModelIds(body: Buffer): string[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body.toString('utf8'));
  } catch {
    return [];
  }
  const data: unknown = isRecord(parsed) ? (parsed['data'] ?? parsed['models']) : undefined;
  if (!Array.isArray(data)) return [];
  const ids = data.flatMap((item: unknown) => {
    const id = isRecord(item) ? (item['id'] ?? item['name']) : undefined;
    return typeof id === 'string' && id !== '' ? [id.replace(/^models\//, '').slice(0, MAX_ID)] : [];
  });
  return ids.slice(0, MAX_MODELS);
}

/** Whether the failure is that of the credentials; if not, it is that of the address. */
function isOfCredentials(error: unknown): error is ModelError {
  return error instanceof ModelError && error.code === 'authentication';
}

/** The field whose value AWS rejects, by the name of the error. */
const AWS_FIELDS: [RegExp, string][] = [
  [/UnrecognizedClient|InvalidClientTokenId|InvalidAccessKeyId/, 'aws.accessKeyId'],
  [/InvalidSignature|SignatureDoesNotMatch/, 'aws.secretAccessKey'],
  [/ExpiredToken|InvalidToken/, 'aws.sessionToken'],
];

function findField({ apiKey, aws, google }: ProviderConfig, error: ModelError): string {
  if (apiKey !== undefined || (aws === undefined && google === undefined)) return 'apiKey';
  if (google !== undefined) return 'google.credentials';
  return AWS_FIELDS.find(([pattern]) => pattern.test(error.upstream.type ?? ''))?.[1] ?? 'aws';
}

function isRejection({ code, status }: ModelError): boolean {
  return status === 401 || status === 403 || (code === 'authentication' && status === 400);
}

function describeFailure(error: unknown, call: ProbeCall): Pick<ProviderProbe, 'status' | 'message'> {
  if (!(error instanceof ModelError)) return { status: 'unreachable', message: 'The provider did not answer in time.' };
  const { status, message, upstream } = error;
  if (isRejection(error)) {
    const name = upstream.type ?? upstream.code;
    const what = call.path === '/models' ? 'key' : 'credentials';
    return {
      status: 'rejected',
      message: `The provider rejects the ${what}${name === undefined ? '' : ` (${name})`}.`,
    };
  }
  if (status === undefined || status >= 500) return { status: 'unreachable', message };
  if (call.isRejected === true && status === 400) return { status: 'ok', message: null };
  const missing = call.path === '/models' ? 'does not list its models' : 'does not know the model that was asked';
  return { status: 'unverified', message: `The provider answers, but ${missing}.` };
}

/** Calls a provider with its credentials. `egress` must allow the address. */
export async function probeProvider(
  config: ProviderConfig,
  { egress, log }: { egress: Egress; log: Logger },
): Promise<ProbeResult> {
  const inference = openInference({
    providers: {},
    models: {},
    log,
    organizations: { find: () => providers },
    guard: egress.dispatcher,
  });
  const providers = { probed: { ...config, timeoutSeconds: TIMEOUT_MS / 1000 } };
  const checkedAt = new Date().toISOString();
  const call = buildCall(config);
  try {
    const own = inference.forOrganization('probe');
    const { body } = await own.request('probed', call, AbortSignal.timeout(TIMEOUT_MS));
    const models = call.path === '/models' ? readModelIds(body) : [];
    return { probe: { status: 'ok', message: null, models, checkedAt }, field: '' };
  } catch (error) {
    const field = isOfCredentials(error) ? findField(config, error) : 'baseUrl';
    return { probe: { ...describeFailure(error, call), models: [], checkedAt }, field };
  } finally {
    await inference.close();
  }
}
