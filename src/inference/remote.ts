import { request as sendRequest } from 'undici';
import { z } from 'zod';
import { errorText } from '../platform/errors.ts';
import type { Logger } from '../platform/log.ts';
import { callUpstream } from './call.ts';
import type { Inference, ModelInfo } from './model.ts';
import { DEFAULT_RETRY, streamWithRetries } from './retry.ts';
import type { RetryPolicy } from './retry.ts';
import { DEFAULT_RETRY_BUDGET, buildRetryBudget } from './retry-budget.ts';
import { openTransport } from './transport.ts';
import type { UpstreamTarget } from './upstream/dialect.ts';

export type RemoteOptions = {
  /** of Capstan's gateway, with the version segment */
  baseUrl: string;
  /** a key of the gateway, with the scope `inference` */
  apiKey: string;
  log: Logger;
  retry?: Partial<RetryPolicy>;
  /** interval between two fetches of the model list, milliseconds */
  refreshMs?: number;
};

const REFRESH_MS = 60_000;
const LIST_TIMEOUT_MS = 10_000;
/** For the first byte and between bytes; the gateway sends a keepalive every 15 seconds. */
const CALL_TIMEOUT_MS = 60_000;

const amounts = {
  input: z.number(),
  output: z.number(),
  cacheRead: z.number().exactOptional(),
  cacheWrite: z.number().exactOptional(),
};
const Price = z.object({
  ...amounts,
  longContext: z.object({ from: z.number(), ...amounts }).exactOptional(),
});
const ModelList = z.object({
  data: z.array(
    z.object({
      id: z.string(),
      context_window: z.int().positive(),
      max_output_tokens: z.int().nullish(),
      modalities: z.object({ input: z.array(z.string()) }),
      price: Price.nullish(),
    }),
  ),
});

/** Defaults for a model that the gateway does not list: providers may serve any. */
function guessInfo(name: string): ModelInfo {
  return { name, contextWindow: 128_000, vision: true };
}

/**
 * Model calls through Capstan's gateway, with its names, prices and keys. Opening fetches the model list once; if that
 * fails, the list becomes known with a later refresh.
 */
export async function openRemoteInference({
  baseUrl,
  apiKey,
  log,
  retry = {},
  refreshMs = REFRESH_MS,
}: RemoteOptions): Promise<Inference> {
  const transport = openTransport();
  const policy = { ...DEFAULT_RETRY, budget: buildRetryBudget(DEFAULT_RETRY_BUDGET), ...retry };
  let models = new Map<string, ModelInfo>();

  async function refresh(): Promise<void> {
    try {
      const { statusCode, body } = await sendRequest(`${baseUrl}/models`, {
        headers: { authorization: `Bearer ${apiKey}` },
        headersTimeout: LIST_TIMEOUT_MS,
        bodyTimeout: LIST_TIMEOUT_MS,
      });
      const text = await body.text();
      if (statusCode !== 200) throw new Error(`the gateway answered ${statusCode}`);
      const { data } = ModelList.parse(JSON.parse(text));
      models = new Map(
        data.map(({ id, context_window: contextWindow, max_output_tokens: limit, modalities, price }) => {
          const vision = modalities.input.includes('image');
          const limits = typeof limit === 'number' ? { maxOutputTokens: limit } : {};
          const prices = price === undefined || price === null ? {} : { price };
          return [id, { name: id, contextWindow, vision, ...limits, ...prices }];
        }),
      );
    } catch (error) {
      log.warn({ error: errorText(error) }, 'could not list the models of the gateway; retrying');
    }
  }

  function findModel(name: string): ModelInfo | undefined {
    const known = models.get(name);
    // Until the first successful fetch, any name may exist.
    return known ?? (name.includes('/') || models.size === 0 ? guessInfo(name) : undefined);
  }

  function buildTarget(name: string): UpstreamTarget {
    const { vision } = findModel(name) ?? guessInfo(name);
    return {
      name,
      model: name,
      format: 'chat-completions',
      baseUrl,
      timeoutMs: CALL_TIMEOUT_MS,
      apiKey,
      vision,
      relays: true,
    };
  }

  await refresh();
  const timer = setInterval(() => void refresh(), refreshMs);
  timer.unref();
  const inference: Inference = {
    forOrganization: () => inference,
    findModel,
    stream: (request, signal, { attempts = policy.attempts } = {}) =>
      streamWithRetries({
        choose() {
          signal.throwIfAborted();
          const target = buildTarget(request.model);
          return [
            { name: target.name, group: baseUrl, stream: () => callUpstream(transport, target, request, signal) },
          ];
        },
        policy: { ...policy, attempts },
        signal,
        watch: {
          failed: ({ name, attempt, error: { code: fault, status }, waitMs }) =>
            log.warn({ model: name, attempt, fault, status, waitMs }, 'model call failed'),
        },
      }),
    async close() {
      clearInterval(timer);
      await transport.close();
    },
  };
  return inference;
}
