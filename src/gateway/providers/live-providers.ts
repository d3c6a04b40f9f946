// Tests: test/gateway/providers.test.ts
import type { ProviderConfig, ProvidersConfig } from '../../inference/config.ts';
import type { OrganizationProviders } from '../../inference/organization-models.ts';
import type { Bus } from '../../platform/bus/bus.ts';
import type { Db } from '../../platform/db/db.ts';
import { errorText } from '../../platform/errors.ts';
import { startPeriodicTasks } from '../../platform/jobs/periodic-tasks.ts';
import type { Logger } from '../../platform/log.ts';
import type { MasterKeys } from '../../platform/master-key.ts';
import { recordSecretRead } from '../../platform/store/secret-reads.ts';
import { listProviderRevisions, readStoredProviders } from '../store/providers.ts';
import type { StoredProvider } from '../store/providers.ts';
import { openConfig } from './credentials.ts';

const CHANGED = 'capstan.providers';
/** Interval for reading changes whose bus message was lost. */
const POLL_MS = 30_000;

export type LivePorts = { db: Db; bus: Bus; masterKeys: MasterKeys; log: Logger };

/** The providers of all organizations, in the memory of this process. */
export type LiveProviders = OrganizationProviders & {
  /** Reads all changes. */
  refresh(): Promise<void>;
  /** Reads all changes, and notifies every other process. */
  publish(): Promise<void>;
  close(): Promise<void>;
};

type Known = { revision: string; organizationId: string; name: string; config: ProviderConfig };

/** Each process that calls a provider reads its key once, and again after a change. */
async function recordRead(db: Db, { id, organizationId, name, settings }: StoredProvider): Promise<void> {
  const changes = { name, server: new URL(settings.baseUrl).origin };
  await recordSecretRead(db, organizationId, { type: 'provider', id, changes, reader: 'service' });
}

class ProviderCache {
  readonly #ports: LivePorts;
  #known = new Map<string, Known>();
  #byOrganization = new Map<string, ProvidersConfig>();
  /** reads run one after the other, so that none overwrites a later one */
  #last: Promise<void> = Promise.resolve();

  constructor(ports: LivePorts) {
    this.#ports = ports;
  }

  find(organization: string): ProvidersConfig | undefined {
    return this.#byOrganization.get(organization);
  }

  refresh(): Promise<void> {
    const next = this.#last.catch(() => undefined).then(() => this.#read());
    this.#last = next;
    return next;
  }

  async #read(): Promise<void> {
    const { db, masterKeys, log } = this.#ports;
    const revisions = new Map((await listProviderRevisions(db)).map(({ id, revision }) => [id, revision]));
    const changed = [...revisions].flatMap(([id, revision]) =>
      this.#known.get(id)?.revision === revision ? [] : [id],
    );
    const gone = [...this.#known.keys()].filter((id) => !revisions.has(id));
    if (changed.length === 0 && gone.length === 0) return;
    const known = new Map(this.#known);
    const touched = new Set(gone.flatMap((id) => known.get(id)?.organizationId ?? []));
    for (const id of gone) known.delete(id);
    for (const stored of changed.length === 0 ? [] : await readStoredProviders(db, changed)) {
      const { id, organizationId, name } = stored;
      touched.add(organizationId);
      if (stored.secret !== null) await recordRead(db, stored);
      try {
        const config = openConfig(stored, masterKeys);
        known.set(id, { revision: revisions.get(id) ?? '', organizationId, name, config });
      } catch (error) {
        known.delete(id);
        log.error({ providerId: id, error: errorText(error) }, 'the credentials of a provider cannot be unsealed');
      }
    }
    this.#known = known;
    this.#rebuild(touched);
  }

  #rebuild(organizations: ReadonlySet<string>): void {
    const byOrganization = new Map(this.#byOrganization);
    for (const organization of organizations) {
      const own = [...this.#known.values()].filter(({ organizationId }) => organizationId === organization);
      if (own.length === 0) byOrganization.delete(organization);
      else byOrganization.set(organization, Object.fromEntries(own.map(({ name, config }) => [name, config])));
    }
    this.#byOrganization = byOrganization;
  }
}

/** Reads all providers, then keeps up with changes. */
export async function openLiveProviders(ports: LivePorts): Promise<LiveProviders> {
  const cache = new ProviderCache(ports);
  const name = 'read the providers of organizations';
  const refresh = () => cache.refresh();
  const subscription = await ports.bus.subscribe(CHANGED, () => {
    refresh().catch((error: unknown) => ports.log.warn({ error: errorText(error) }, `could not ${name}`));
  });
  await refresh();
  const tasks = startPeriodicTasks([{ name, periodMs: POLL_MS, run: refresh }], ports.log);
  return {
    find: (organization) => cache.find(organization),
    refresh,
    async publish() {
      await refresh();
      ports.bus.send(CHANGED, {});
    },
    async close() {
      subscription.close();
      await tasks.close();
    },
  };
}
