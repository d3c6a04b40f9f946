// Tests: test/inference/inference.test.ts
import type { ModelRequest } from './model.ts';
import type { Transport } from './transport.ts';
import { DIALECTS } from './upstream/dialects.ts';
import type { UpstreamTarget } from './upstream/dialect.ts';
import { parseObject } from './upstream/wire.ts';

/** Undefined if the upstream's format cannot count tokens. */
export async function requestCount(
  transport: Transport,
  target: UpstreamTarget,
  request: ModelRequest,
  signal: AbortSignal,
): Promise<number | undefined> {
  const built = DIALECTS[target.format].buildCountRequest?.(request, target);
  if (built === undefined) return undefined;
  const response = await transport.post(target, built, signal);
  response.complete();
  for await (const { data } of response.events) {
    const { input_tokens, inputTokens, totalTokens } = parseObject(data);
    const count = input_tokens ?? inputTokens ?? totalTokens;
    return typeof count === 'number' ? count : undefined;
  }
  return undefined;
}
