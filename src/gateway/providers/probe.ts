// Tests: test/gateway/providers.test.ts
import type { ProviderConfig } from '../../inference/config.ts';
import { openInference } from '../../inference/inference.ts';
import { ModelError } from '../../inference/model.ts';
import type { Egress } from '../../platform/egress/egress.ts';
import type { Logger } from '../../platform/log.ts';
import { isRecord } from '../../platform/records.ts';
import type { ProviderProbe } from '../contract/providers.ts';

const TIMEOUT_MS = 15_000;
const MAX_MODELS = 100;
const MAX_ID = 400;

/** The ids in a list of models, in OpenAI's or Anthropic's shape. */
function readModelIds(body: Buffer): string[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body.toString('utf8'));
  } catch {
    return [];
  }
  const data: unknown = isRecord(parsed) ? parsed['data'] : undefined;
  if (!Array.isArray(data)) return [];
  const ids = data.flatMap((item: unknown) =>
    isRecord(item) && typeof item['id'] === 'string' && item['id'] !== '' ? [item['id'].slice(0, MAX_ID)] : [],
  );
  return ids.slice(0, MAX_MODELS);
}

function describeFailure(error: unknown): Pick<ProviderProbe, 'status' | 'message'> {
  if (!(error instanceof ModelError)) return { status: 'unreachable', message: 'The provider did not answer in time.' };
  const { status, message } = error;
  if (status === 401 || status === 403) return { status: 'rejected', message: 'The provider rejects the key.' };
  if (status === undefined || status >= 500) return { status: 'unreachable', message };
  return { status: 'unverified', message: 'The provider answers, but does not list its models.' };
}

/** Lists the models of a provider with its key. `egress` must allow the address. */
export async function probeProvider(
  config: ProviderConfig,
  { egress, log }: { egress: Egress; log: Logger },
): Promise<ProviderProbe> {
  const inference = openInference({
    providers: {},
    models: {},
    log,
    organizations: { find: () => providers },
    guard: egress.dispatcher,
  });
  const providers = { probed: { ...config, timeoutSeconds: TIMEOUT_MS / 1000 } };
  const checkedAt = new Date().toISOString();
  try {
    const request = { method: 'GET' as const, path: '/models', headers: { accept: 'application/json' } };
    const own = inference.forOrganization('probe');
    const { body } = await own.request('probed', request, AbortSignal.timeout(TIMEOUT_MS));
    return { status: 'ok', message: null, models: readModelIds(body), checkedAt };
  } catch (error) {
    return { ...describeFailure(error), models: [], checkedAt };
  } finally {
    await inference.close();
  }
}
