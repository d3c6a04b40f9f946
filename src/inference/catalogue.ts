import { calcPrice, findProvider } from '@pydantic/genai-prices';
import type { ModelPrice as LibraryPrice } from '@pydantic/genai-prices';
import type { ModelPrice } from './config.ts';
import { MODEL_FAMILIES } from './model-families.ts';
import type { ModelFamily } from './model-families.ts';
import type { ReasoningEffort } from './model.ts';

/** Public facts about a model. Token counts; prices in US dollars per million tokens. */
export type CatalogueEntry = {
  contextWindow?: number;
  maxOutputTokens?: number;
  vision?: boolean;
  efforts?: readonly ReasoningEffort[];
  price?: ModelPrice;
};

/** A model as named in the configuration. */
export type ModelAddress = { provider: string; id: string; baseUrl: string };

/** Vendors that sell their own models, so a proxy's calls cost the vendor's prices. */
const PROPRIETARY = new Set(['anthropic', 'openai', 'google']);
/** Vendors of open weights, which anybody may serve. */
const OPEN_WEIGHTS = ['gpt-oss', 'gemma'];
const MAX_ID = 200;

/**
 * Window, output limit, prices and abilities of a model, as far as they are known. Prices come from the provider's own
 * list, found by the provider's name or address; through any other provider only for models that their vendors sell.
 */
export function findInCatalogue({ provider, id, baseUrl }: ModelAddress): CatalogueEntry {
  if (id.length > MAX_ID) return {};
  const found = findListed({ provider, id, baseUrl });
  const { contextWindow, ...family } = findFamily(id) ?? {};
  const window = found?.contextWindow ?? contextWindow;
  return {
    ...family,
    ...(window === undefined ? {} : { contextWindow: window }),
    ...(found?.price === undefined ? {} : { price: found.price }),
  };
}

/** Ids of the chat models that a provider is known to serve. Empty for a provider that is not known. */
export function listKnownModels({ provider, baseUrl }: Omit<ModelAddress, 'id'>): string[] {
  const known = findProviderOf({ provider, baseUrl });
  return (known?.models ?? [])
    .filter((model) => model.deprecated !== true && findFamily(model.id)?.maxOutputTokens !== undefined)
    .filter(({ id, prices }) => !NO_CHAT.some((word) => id.includes(word)) && prices !== undefined)
    .map(({ id }) => id);
}

/** Parts of model names that mean other purposes than chat. */
const NO_CHAT = ['audio', 'realtime', 'transcribe', 'tts', 'image', 'search', 'embedding', 'ft:', ':', 'research'];

function findProviderOf({ provider, baseUrl }: Omit<ModelAddress, 'id'>) {
  const named = findProvider({ providerId: provider.toLowerCase() });
  return named ?? findProvider({ providerApiUrl: baseUrl });
}

function findListed(address: ModelAddress): { contextWindow?: number; price?: ModelPrice } | undefined {
  const { id } = address;
  const known = findProviderOf(address);
  if (known !== undefined) return readListed(id, known.id);
  const base = id.slice(id.lastIndexOf('/') + 1);
  const owner = findProvider({ modelId: base });
  if (owner === undefined) return undefined;
  const listed = readListed(base, owner.id);
  if (listed === undefined || isSold(base, owner.id)) return listed;
  const { price: _price, ...limits } = listed;
  return limits;
}

function isSold(id: string, owner: string): boolean {
  return PROPRIETARY.has(owner) && !OPEN_WEIGHTS.some((name) => id.includes(name));
}

function readListed(id: string, providerId: string): { contextWindow?: number; price?: ModelPrice } | undefined {
  const found = calcPrice({ input_tokens: 1 }, id, { providerId });
  if (found === null) return undefined;
  const window = found.model.context_window;
  const price = readPrice(found.model_price);
  return {
    ...(window === undefined || window < 1 ? {} : { contextWindow: window }),
    ...(price === undefined ? {} : { price }),
  };
}

function readPrice(listed: LibraryPrice): ModelPrice | undefined {
  const base = readAmounts(listed, 0);
  if (base === undefined) return undefined;
  const from = readTier(listed);
  const long = from === undefined ? undefined : readAmounts(listed, from);
  return from === undefined || long === undefined ? base : { ...base, longContext: { from, ...long } };
}

/** The prompt length at which the first higher price applies. */
function readTier({ input_mtok: input }: LibraryPrice): number | undefined {
  return typeof input === 'object' ? input.tiers[0]?.start : undefined;
}

function readAmounts(listed: LibraryPrice, tokens: number): Omit<ModelPrice, 'longContext'> | undefined {
  const read = (name: string): number | undefined => {
    const value = listed[name];
    if (typeof value !== 'object') return value;
    return value.tiers.find(({ start }) => tokens > 0 && start === tokens)?.price ?? value.base;
  };
  const [input, output] = [read('input_mtok'), read('output_mtok')];
  if (input === undefined || output === undefined) return undefined;
  const [cacheRead, cacheWrite] = [read('cache_read_mtok'), read('cache_write_mtok')];
  return {
    input,
    output,
    ...(cacheRead === undefined ? {} : { cacheRead }),
    ...(cacheWrite === undefined ? {} : { cacheWrite }),
  };
}

const PREFIXES = Object.keys(MODEL_FAMILIES).toSorted((left, right) => right.length - left.length);
const SEPARATORS = '/.:@';

/** The family of a model by its name, which may follow a vendor's: `anthropic/claude-…`, `us.anthropic.claude-…`. */
function findFamily(id: string): ModelFamily | undefined {
  const name = id.toLowerCase();
  const plain = name.replaceAll('.', '-');
  const found = PREFIXES.find((prefix) => {
    const at = plain.indexOf(prefix);
    return at === 0 || (at > 0 && SEPARATORS.includes(name[at - 1] ?? ''));
  });
  return found === undefined ? undefined : MODEL_FAMILIES[found];
}
