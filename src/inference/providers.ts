import type { ModelsConfig, ProviderConfig, ProvidersConfig } from './config.ts';
import { StartupError } from '../platform/errors.ts';
import { omitUndefined } from '../platform/records.ts';
import { findInCatalogue, listKnownModels } from './catalogue.ts';
import type { ModelInfo } from './model.ts';
import { SCRIPT_MODEL, SCRIPT_PROVIDER } from './script.ts';
import type { ModelEntry } from './model-entry.ts';
import { buildRoute } from './routing.ts';
import type { Route } from './routing.ts';
import type { UpstreamTarget } from './upstream/dialect.ts';

const DEFAULT_CONTEXT_WINDOW = 128_000;
/** Maximum number of cached models. */
const MAX_ENTRIES = 2000;

/** Models outside the catalogue that reject a reasoning effort. */
const NO_REASONING = /(^|\/)(gpt-[34]|chatgpt-4|claude-(instant|2|3-(opus|sonnet|haiku|5)))/;

/** Their replies follow the format exactly, and they support more fields than the internal request. */
const PASS_THROUGH_HOSTS = new Set(['api.openai.com', 'api.anthropic.com']);

export type ModelTable = {
  /** Whether the name is one of the configuration's `models`. */
  hasList(model: string): boolean;
  /** The models behind a name; empty if no provider serves it. */
  resolve(model: string): Route;
  /** Undefined if no provider serves it. For a list: the common abilities of its models, at the price of the first. */
  find(model: string): ModelInfo | undefined;
  /** The connection of a provider; undefined if there is none with this name. */
  findProvider(provider: string): UpstreamTarget | undefined;
  /** The names of the providers, in the order of the configuration. */
  listProviders(): readonly string[];
  /** Lists first, then the models of each provider: those in the configuration, else those in the catalogue. */
  list(): ModelInfo[];
};

const SCRIPT: ModelEntry = {
  info: { name: SCRIPT_MODEL, contextWindow: DEFAULT_CONTEXT_WINDOW, vision: true, price: { input: 0, output: 0 } },
  target: undefined,
};

type Connection = Pick<
  UpstreamTarget,
  | 'format'
  | 'baseUrl'
  | 'timeoutMs'
  | 'apiKey'
  | 'apiKeyHeader'
  | 'apiKeys'
  | 'aws'
  | 'google'
  | 'headers'
  | 'extraBody'
  | 'isGuarded'
>;

/** The connection of a provider; the same for all of its models. */
function buildConnection(config: ProviderConfig, isGuarded: boolean): Connection {
  const {
    format,
    baseUrl,
    timeoutSeconds,
    apiKey,
    apiKeys = [],
    apiKeyHeader,
    aws,
    google,
    headers,
    extraHeaders,
    extraBody,
  } = config;
  const sent = headers === undefined && extraHeaders === undefined ? undefined : { ...headers, ...extraHeaders };
  return {
    format,
    baseUrl,
    timeoutMs: timeoutSeconds * 1000,
    ...(isGuarded ? { isGuarded } : {}),
    ...omitUndefined({
      apiKey: apiKey ?? apiKeys[0],
      apiKeys: apiKeys.length < 2 ? undefined : apiKeys,
      apiKeyHeader,
      aws,
      google,
      headers: sent,
      extraBody,
    }),
  };
}

function buildEntry(
  { provider, id, isGuarded }: { provider: string; id: string; isGuarded: boolean },
  config: ProviderConfig,
): ModelEntry | undefined {
  const known = config.models?.find((model) => model.id === id);
  if (config.models !== undefined && known === undefined) return undefined;
  const name = `${provider}/${id}`;
  const { efforts, ...listed } = findInCatalogue({ provider, id, baseUrl: config.baseUrl });
  const own = omitUndefined(known ?? {});
  const { contextWindow = DEFAULT_CONTEXT_WINDOW, vision = true, maxOutputTokens, price } = { ...listed, ...own };
  const limits = maxOutputTokens === undefined ? {} : { maxOutputTokens };
  const reasoning = known?.reasoning ?? (efforts === undefined ? !NO_REASONING.test(id) : efforts.length > 0);
  const accepted = reasoning ? efforts : [];
  return {
    info: {
      name,
      contextWindow,
      vision,
      ...limits,
      ...omitUndefined({ price: price && omitUndefined(price), efforts: accepted }),
    },
    target: {
      name,
      model: id,
      ...buildConnection(config, isGuarded),
      vision,
      reasoning,
      passThrough: config.passThrough ?? PASS_THROUGH_HOSTS.has(new URL(config.baseUrl).hostname),
      ...limits,
      ...omitUndefined({ efforts: accepted }),
    },
  };
}

function joinInfo(name: string, [first, ...others]: ModelEntry[]): ModelInfo | undefined {
  if (first === undefined) return undefined;
  const all = [first.info, ...others.map((entry) => entry.info)];
  const outputs = all.flatMap((info) => info.maxOutputTokens ?? []);
  return {
    ...first.info,
    name,
    contextWindow: Math.min(...all.map((info) => info.contextWindow)),
    vision: all.every((info) => info.vision),
    ...(outputs.length === 0 ? {} : { maxOutputTokens: Math.min(...outputs) }),
  };
}

/** Throws a `StartupError` if a list names an unknown model. `isGuarded`: the addresses come from callers. */
export function buildModelTable(
  providers: ProvidersConfig,
  models: ModelsConfig,
  { isGuarded = false }: { isGuarded?: boolean } = {},
): ModelTable {
  if (Object.hasOwn(providers, SCRIPT_PROVIDER)) {
    throw new StartupError(`Provider ${SCRIPT_PROVIDER} is built in; use another name.`);
  }
  const cache = new Map<string, ModelEntry>();

  function findEntry(model: string): ModelEntry | undefined {
    if (model === SCRIPT_MODEL) return SCRIPT;
    const cached = cache.get(model);
    if (cached !== undefined) return cached;
    const slash = model.indexOf('/');
    const provider = model.slice(0, Math.max(slash, 0));
    const id = model.slice(slash + 1);
    if (provider === '' || id === '' || !Object.hasOwn(providers, provider)) return undefined;
    const config = providers[provider];
    const entry = config === undefined ? undefined : buildEntry({ provider, id, isGuarded }, config);
    if (entry === undefined) return undefined;
    cache.set(model, entry);
    // Unlisted ids come from callers, who could send any number of them.
    const [oldest] = cache.keys();
    if (cache.size > MAX_ENTRIES && oldest !== undefined) cache.delete(oldest);
    return entry;
  }

  const connections = new Map<string, UpstreamTarget>();

  function findConnection(provider: string): UpstreamTarget | undefined {
    const known = connections.get(provider);
    const config = Object.hasOwn(providers, provider) ? providers[provider] : undefined;
    if (known !== undefined || config === undefined) return known;
    const target = { name: `${provider}/*`, model: '', vision: true, ...buildConnection(config, isGuarded) };
    connections.set(provider, target);
    return target;
  }

  const lists = new Map<string, Route>();
  for (const [name, config] of Object.entries(models)) {
    const route = buildRoute(config, (member) => {
      const entry = findEntry(member);
      if (entry === undefined) throw new StartupError(`Model ${name} names ${member}, which no provider has.`);
      return entry;
    });
    lists.set(name, route);
  }

  function resolve(model: string): Route {
    const listed = lists.get(model);
    if (listed !== undefined) return listed;
    const entry = findEntry(model);
    return { entries: entry === undefined ? [] : [entry], routing: 'order', fallbackOnContentPolicy: false };
  }

  const infos = new Map<string, ModelInfo | undefined>();

  /** What is known of a model is known of its list for as long as the table lives. */
  function findInfo(model: string): ModelInfo | undefined {
    const list = lists.get(model);
    if (list === undefined) return findEntry(model)?.info;
    if (!infos.has(model)) infos.set(model, joinInfo(model, list.entries));
    return infos.get(model);
  }

  return {
    hasList: (model) => lists.has(model),
    resolve,
    findProvider: findConnection,
    find: findInfo,
    listProviders: () => Object.keys(providers),
    list: () => {
      const spelled = Object.entries(providers).flatMap(([provider, { models: own, baseUrl }]) => {
        const ids = own?.map(({ id }) => id) ?? listKnownModels({ provider, baseUrl });
        return ids.map((id) => `${provider}/${id}`);
      });
      const names = [...new Set([...lists.keys(), ...spelled, SCRIPT_MODEL])];
      return names.flatMap((name) => findInfo(name) ?? []);
    },
  };
}
