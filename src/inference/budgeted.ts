import { estimateCost } from './cost.ts';
import { estimateTokens } from './estimate.ts';
import type { CallOptions, Inference, ModelDelta, ModelInfo, ModelRequest, ModelUsage } from './model.ts';

/**
 * Reserves the maximum cost of a call, in US dollars. Called only if a budget applies; undefined: no budget does.
 * Throws if the call is not allowed.
 */
export type ReserveCost = (
  estimateWorst: () => number,
) => Promise<{ settle(costUsd: number): Promise<void> } | undefined>;

/** Assumed share of the context window that a reply fills if it has no other limit. */
const OUTPUT_PART = 1 / 4;
const CHARACTERS_PER_TOKEN = 4;

/**
 * The maximum cost of a call in US dollars: its estimated input and the longest reply. 0 for a model without a price.
 */
export function estimateWorstCost(
  { price, contextWindow, maxOutputTokens }: Pick<ModelInfo, 'price' | 'contextWindow' | 'maxOutputTokens'>,
  call: { inputTokens: number; maxOutputTokens?: number | undefined },
): number {
  if (price === undefined) return 0;
  const output = call.maxOutputTokens ?? maxOutputTokens ?? Math.floor(contextWindow * OUTPUT_PART);
  return estimateCost({ input: call.inputTokens, output, cacheRead: 0, cacheWrite: 0, reasoning: 0 }, price);
}

/** The known usage of a reply while it arrives. */
class SeenUsage {
  model: string;
  #usage: ModelUsage | undefined;
  #isWhole = false;
  #characters = 0;
  readonly #estimateInput: () => number;

  constructor(model: string, estimateInput: () => number) {
    this.model = model;
    this.#estimateInput = estimateInput;
  }

  note(delta: ModelDelta): void {
    if (delta.type === 'start') this.model = delta.model;
    if (delta.type === 'start' || delta.type === 'finish') this.#usage = delta.usage ?? this.#usage;
    if (delta.type === 'finish') this.#isWhole = true;
    if ('text' in delta) this.#characters += delta.text.length;
  }

  /** A reply that breaks off is charged for the part that arrived. */
  get usage(): ModelUsage {
    const told = this.#usage ?? { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 };
    if (this.#isWhole || this.#characters === 0) return told;
    const input = told.input === 0 ? this.#estimateInput() : told.input;
    return { ...told, input, output: Math.max(told.output, Math.ceil(this.#characters / CHARACTERS_PER_TOKEN)) };
  }
}

/** Model calls that each reserve their worst case in advance and are charged for their actual usage. */
export function limitCost(inference: Inference, reserve: ReserveCost): Inference {
  async function* stream(
    request: ModelRequest,
    signal: AbortSignal,
    options?: CallOptions,
  ): AsyncGenerator<ModelDelta> {
    const model = inference.findModel(request.model);
    const reservation = await reserve(() => {
      if (model === undefined) return 0;
      return estimateWorstCost(model, { inputTokens: estimateTokens(request), ...request });
    });
    if (reservation === undefined) {
      yield* inference.stream(request, signal, options);
      return;
    }
    const seen = new SeenUsage(request.model, () => estimateTokens(request));
    try {
      for await (const delta of inference.stream(request, signal, options)) {
        seen.note(delta);
        yield delta;
      }
    } finally {
      const price = (inference.findModel(seen.model) ?? model)?.price;
      await reservation.settle(price === undefined ? 0 : estimateCost(seen.usage, price));
    }
  }

  return { ...inference, findModel: (name) => inference.findModel(name), stream, close: () => inference.close() };
}
