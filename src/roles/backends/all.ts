import { join } from 'node:path';
import { openProcessSandboxes } from '../../sandbox/process/process.ts';
import { findRipgrep } from '../../sandbox/process/ripgrep.ts';
import type { Sandboxes } from '../../sandbox/sandbox.ts';
import { buildSigner } from '../../sandbox/executor/token.ts';
import type { Config } from '../config/config.ts';
import type { Logger } from '../../platform/log.ts';
import { findSandboxClass } from '../../agents/store/versions.ts';
import { openMcp } from '../../agents/mcp/mcp.ts';
import { openVaults } from '../../agents/vaults/resolve.ts';
import type { BareContext } from '../context.ts';
import type { OpeningDatabase } from './database.ts';
import { openPart, readMasterKey } from './shared.ts';
import { openStored } from './stored.ts';

export type Backends = Awaited<ReturnType<typeof openBackends>>;

/** All of them, for the roles of the agent service. */
export async function openBackends(context: BareContext, database: OpeningDatabase) {
  const { config, lifecycle, log } = context;
  const opening = openStored(context, database);
  const findClass: FindClass = async (agent) =>
    (await findSandboxClass((await opening).db, agent)) ?? config.sandboxClass ?? null;
  const [stored, sandboxes] = await Promise.all([
    opening,
    openPart('CAPSTAN_SANDBOX', () => openSandboxes(config, log, findClass)),
  ]);
  lifecycle.use('sandboxes', sandboxes);
  const { db, egress, masterKeys } = stored;
  if (config.masterKeyPrevious !== undefined) {
    const { rewrapAllSecrets } = await import('./rewrap.ts');
    void rewrapAllSecrets(db, masterKeys, log);
  }
  const vaults = openVaults({ db, egress, masterKeys, log });
  const mcp = lifecycle.use('mcp', openMcp({ egress, vaults, log }, { callTimeoutMs: config.mcpTimeoutMs }));
  return { ...stored, sandboxes, vaults, mcp };
}

type FindClass = (agent: { organizationId: string; agentId: string }) => Promise<string | null>;

async function openSandboxes(config: Config, log: Logger, findClass: FindClass): Promise<Sandboxes> {
  if (config.sandbox === 'kubernetes') {
    const { openKubernetes, openKubernetesSandboxes } = await loadKubernetes();
    const kubernetes = await openKubernetes(config.kubernetes);
    const namespace = config.kubernetesNamespace ?? kubernetes.namespace ?? 'default';
    const signer = buildSigner(readMasterKey(config));
    const sandboxes = await openKubernetesSandboxes({ kubernetes, namespace, signer, log, findClass });
    const close = async () => {
      await sandboxes.close();
      await kubernetes.close();
    };
    return { ...sandboxes, close };
  }
  return openProcessSandboxes({
    dir: join(config.dataDir, 'volumes'),
    network: config.sandboxNetwork,
    rgPath: findRipgrep(),
    allowUnwrapped: config.sandboxUnwrapped,
    uids: config.sandboxUids,
    limits: config.sandboxLimits,
    log,
  });
}

/** Loaded where it is used: its client is large. */
async function loadKubernetes() {
  const [client, sandboxes] = await Promise.all([
    import('../../platform/kubernetes/client.ts'),
    import('../../sandbox/kubernetes/kubernetes.ts'),
  ]);
  return { ...client, ...sandboxes };
}
