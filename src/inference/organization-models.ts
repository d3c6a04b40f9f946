import type { ProvidersConfig } from './config.ts';
import { buildModelTable } from './providers.ts';
import type { ModelTable } from './providers.ts';

/** The providers that organizations bring themselves. */
export type OrganizationProviders = {
  /** Undefined: none. The same object until something of it changes. */
  find(organization: string): ProvidersConfig | undefined;
};

/**
 * The models of one organization: the lists of the configuration, then its own providers, then those of the configuration.
 * The lists stay with the providers of the configuration.
 */
function joinTables(shared: ModelTable, own: ModelTable): ModelTable {
  const choose = (model: string) => (!shared.hasList(model) && own.resolve(model).entries.length > 0 ? own : shared);
  return {
    hasList: (model) => shared.hasList(model),
    resolve: (model) => choose(model).resolve(model),
    find: (model) => choose(model).find(model),
    findProvider: (provider) => own.findProvider(provider) ?? shared.findProvider(provider),
    list: () => {
      const listed = new Set(shared.list().map(({ name }) => name));
      const more = own.list().filter(({ name }) => !listed.has(name));
      return [...shared.list().map((info) => choose(info.name).find(info.name) ?? info), ...more];
    },
  };
}

/** The tables of organizations, each built once for as long as its providers stay the same. */
export class OrganizationTables {
  readonly #shared: ModelTable;
  readonly #providers: OrganizationProviders | undefined;
  readonly #tables = new WeakMap<ProvidersConfig, ModelTable>();

  constructor(shared: ModelTable, providers: OrganizationProviders | undefined) {
    this.#shared = shared;
    this.#providers = providers;
  }

  get(organization: string): ModelTable {
    const own = this.#providers?.find(organization);
    if (own === undefined) return this.#shared;
    const table = this.#tables.get(own) ?? joinTables(this.#shared, buildModelTable(own, {}, { isGuarded: true }));
    this.#tables.set(own, table);
    return table;
  }
}
