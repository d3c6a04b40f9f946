import { startOperator } from '../../../operator/start.ts';
import type { Operator, OperatorOptions } from '../../../operator/start.ts';
import type { Session } from '../../../src/sandbox/resources/session.ts';
import type { Volume } from '../../../src/sandbox/resources/volume.ts';
import type { Kubernetes } from '../../../src/platform/kubernetes/client.ts';
import { hasStatus } from '../../../src/platform/kubernetes/client.ts';
import { buildPath } from '../../../src/platform/kubernetes/paths.ts';
import type { Plural } from '../../../src/platform/kubernetes/paths.ts';
import { openLog } from '../../../src/platform/log.ts';
import { buildSession, buildVolume, waitFor } from './cluster.ts';
import type { Cluster } from './cluster.ts';
import { startNode } from './kubelet.ts';

export const POD_OPTIONS: OperatorOptions['pod'] = {
  image: 'capstan/sandbox:test',
  userNamespaces: false,
  requests: { cpu: '10m', memory: '64Mi' },
  limits: { cpu: '1', memory: '1Gi', 'ephemeral-storage': '1Gi' },
};

/** An operator in this process; with the caller's own `kubernetes` if that should fail. */
export function openOperator(
  cluster: Cluster,
  options: Partial<OperatorOptions> = {},
  kubernetes: Kubernetes = cluster.kubernetes,
): Promise<Operator> {
  const log = openLog({ level: process.env.CAPSTAN_LOG_LEVEL ?? 'silent', pretty: false });
  return startOperator(
    { kubernetes, log },
    {
      namespace: cluster.namespace,
      host: '127.0.0.1',
      port: 0,
      idleMs: 15 * 60_000,
      pod: POD_OPTIONS,
      lease: { retryMs: 100 },
      pollMs: 3_600_000,
      ...options,
    },
  );
}

/** The resources that the tests read and change, by name. */
export function buildAccess({ kubernetes, namespace }: Pick<Cluster, 'kubernetes' | 'namespace'>) {
  const find = async <T>(plural: Plural, name: string): Promise<T | undefined> => {
    try {
      return await kubernetes.request<T>({ method: 'GET', path: buildPath(namespace, plural, name) });
    } catch (error) {
      if (hasStatus(error, 404)) return undefined;
      throw error;
    }
  };
  const patch = (plural: Plural, name: string, body: object): Promise<unknown> =>
    kubernetes.request({ method: 'PATCH', path: buildPath(namespace, plural, name), body });
  return {
    find,
    patch,
    remove: (plural: Plural, name: string, body?: object): Promise<unknown> =>
      kubernetes.request({ method: 'DELETE', path: buildPath(namespace, plural, name), body }),
    /** The session, once its Ready condition has this reason. */
    untilReason: (name: string, reason: string) =>
      waitFor(`session ${name} is ${reason}`, async () => {
        const session = await find<Session>('sessions', name);
        const ready = session?.status?.conditions?.find(({ type }) => type === 'Ready');
        return ready?.reason === reason ? { session: session as Session, ready } : undefined;
      }),
    untilPhase: (name: string, phase: string) =>
      waitFor(`session ${name} is ${phase}`, async () => {
        const session = await find<Session>('sessions', name);
        return session?.status?.phase === phase ? session : undefined;
      }),
    untilVolume: (name: string, what: string, holds: (volume: Volume) => boolean) =>
      waitFor(`volume ${name}: ${what}`, async () => {
        const volume = await find<Volume>('volumes', name);
        return volume !== undefined && holds(volume) ? volume : undefined;
      }),
    untilGone: (plural: Plural, name: string) =>
      waitFor(`${plural} ${name} is gone`, async () => (await find(plural, name)) === undefined),
  };
}

export type Stage = Awaited<ReturnType<typeof openStage>>;

/**
 * An operator with a simulated node, and functions that create its resources. Closing it also closes the cluster's
 * client.
 */
export async function openStage(cluster: Cluster, options: Partial<OperatorOptions> = {}, kubernetes?: Kubernetes) {
  const { namespace } = cluster;
  const node = startNode(cluster.kubernetes, namespace);
  const operator = await openOperator(cluster, options, kubernetes);
  const api = buildAccess(cluster);
  const newVolume = async (spec: Parameters<typeof buildVolume>[1] = {}): Promise<string> =>
    (await cluster.create(buildVolume(namespace, spec))).metadata.name;
  const newSession = async (spec: Parameters<typeof buildSession>[1] = {}): Promise<string> => {
    const { organizationId, agentId, subjectId } = buildSession(namespace, spec).spec;
    const volumeName = spec.volumeName ?? (await newVolume({ organizationId, agentId, subjectId }));
    return (await cluster.create(buildSession(namespace, { volumeName, ...spec }))).metadata.name;
  };
  return {
    node,
    operator,
    api,
    newVolume,
    newSession,
    newRunning: async (spec: Parameters<typeof buildSession>[1] = {}): Promise<Session> =>
      api.untilPhase(await newSession(spec), 'Running'),
    async close() {
      await operator.close();
      await node.close();
      await cluster.kubernetes.close();
    },
  };
}
