import type { ProvidersConfig } from './config.ts';
import { buildModelTable } from './providers.ts';
import type { ModelTable } from './providers.ts';

/** The organizations' own providers. */
export type OrganizationProviders = {
  /** Undefined: none. Returns the same object until a provider changes. */
  find(organization: string): ProvidersConfig | undefined;
};

/**
 * The models of one organization: the configured lists, then its own providers, then the configured providers. The
 * lists refer to configured providers only.
 */
function joinTables(shared: ModelTable, own: ModelTable): ModelTable {
  const choose = (model: string) => (!shared.hasList(model) && own.resolve(model).entries.length > 0 ? own : shared);
  return {
    hasList: (model) => shared.hasList(model),
    resolve: (model) => choose(model).resolve(model),
    find: (model) => choose(model).find(model),
    findProvider: (provider) => own.findProvider(provider) ?? shared.findProvider(provider),
    listProviders: () => [...new Set([...own.listProviders(), ...shared.listProviders()])],
    list: () => {
      const listed = new Set(shared.list().map(({ name }) => name));
      const more = own.list().filter(({ name }) => !listed.has(name));
      return [...shared.list().map((info) => choose(info.name).find(info.name) ?? info), ...more];
    },
  };
}

/** The model tables of organizations. A table is rebuilt when its providers change. */
export class OrganizationTables {
  readonly #shared: ModelTable;
  readonly #providers: OrganizationProviders | undefined;
  readonly #tables = new WeakMap<ProvidersConfig, ModelTable>();

  constructor(shared: ModelTable, providers: OrganizationProviders | undefined) {
    this.#shared = shared;
    this.#providers = providers;
  }

  getOwn(organization: string | undefined): ProvidersConfig | undefined {
    return organization === undefined ? undefined : this.#providers?.find(organization);
  }

  get(organization: string): ModelTable {
    const own = this.#providers?.find(organization);
    if (own === undefined) return this.#shared;
    const table = this.#tables.get(own) ?? joinTables(this.#shared, buildModelTable(own, {}, { isGuarded: true }));
    this.#tables.set(own, table);
    return table;
  }
}
