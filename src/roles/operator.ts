import { removeSandboxes } from '../../operator/remove-sandboxes.ts';
import { startOperator } from '../../operator/start.ts';
import { StartupError } from '../platform/errors.ts';
import { openKubernetes } from '../platform/kubernetes/client.ts';
import type { BareContext } from './context.ts';
import type { Started } from './role.ts';

/** Running calls may finish, and pods on responsive nodes end within this time. */
const REMOVAL_MS = 150_000;

/** Speaks to the API server of the cluster and to nothing else, so it is started without backends. */
export async function runOperator({ config, lifecycle, log }: BareContext): Promise<Started> {
  const { image, ...pod } = config.sandboxPod;
  if (image === undefined) throw new StartupError('The role operator needs CAPSTAN_SANDBOX_IMAGE.');
  const kubernetes = lifecycle.use('kubernetes', await openKubernetes(config.kubernetes));
  const namespace = config.kubernetesNamespace ?? kubernetes.namespace ?? 'default';
  const { host, port, storageClass, onLostClaim, backup } = config;
  const storage = storageClass === undefined ? {} : { storageClassName: storageClass };
  const operator = await startOperator(
    { kubernetes, log },
    { namespace, host, port, idleMs: config.sandboxIdleMs, pod: { ...pod, image }, onLostClaim, backup, ...storage },
  );
  return { address: lifecycle.use('operator', operator).address };
}

/** `operator remove-sandboxes DEPLOYMENT…`: before an uninstall, see `removeSandboxes`. */
export async function runRemoval(
  { config, lifecycle, log }: BareContext,
  deployments: readonly string[],
): Promise<void> {
  const kubernetes = lifecycle.use('kubernetes', await openKubernetes(config.kubernetes));
  const own = kubernetes.namespace ?? 'default';
  const callers = { namespace: own, deployments };
  const namespace = config.kubernetesNamespace ?? own;
  await removeSandboxes({ kubernetes, log }, { namespace, callers, timeoutMs: REMOVAL_MS });
}
