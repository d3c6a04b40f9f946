import type { OpenAiVideosConfig, VideoEngineConfig } from '../../contract/engines.ts';
import type { z } from 'zod';
import { RenderError } from '../engine.ts';
import type { ModelCapabilities, RenderRequest } from '../engine.ts';

type ModelConfig = NonNullable<z.infer<typeof OpenAiVideosConfig>['models']>[number];

/** The capabilities of a configured model. */
export function buildCapabilities(engine: string, model: ModelConfig): ModelCapabilities {
  const { creditsPerSecond: price } = model;
  const prices = model.resolutions.map((name) => [name, typeof price === 'number' ? price : (price[name] ?? 1)]);
  return {
    name: `${engine}/${model.id}`,
    aspectRatios: ['auto', ...model.aspectRatios],
    durations: model.durations,
    resolutions: model.resolutions,
    audio: model.audio,
    formats: [model.format],
    inputs: model.inputs,
    creditsPerSecond: Object.fromEntries(prices) as Record<string, number>,
    deadlineSeconds: model.deadlineSeconds,
  };
}

/** The configured model that a request names. */
export function getModel<T extends { id: string }>(engine: string, models: readonly T[], request: RenderRequest): T {
  const found = models.find((model) => `${engine}/${model.id}` === request.model);
  if (found === undefined) throw new RenderError('invalid_input', 'The engine no longer has this model.');
  return found;
}

export function buildTimeouts({ pollSeconds, timeoutSeconds }: VideoEngineConfig) {
  return { pollMs: pollSeconds * 1000, timeoutMs: timeoutSeconds * 1000 };
}
