import { LABELS } from '../../../src/platform/kubernetes/resource.ts';
import type { Session } from '../../../src/sandbox/resources/session.ts';
import { buildListPath } from '../../../src/platform/kubernetes/paths.ts';
import type { Pod } from '../../../src/platform/kubernetes/types.ts';
import { buildSession, buildVolume } from './cluster.ts';
import type { Cluster } from './cluster.ts';
import type { Node } from './kubelet.ts';
import { buildAccess } from './operator.ts';

/** concurrent sessions */
const MOST = 12;

/**
 * Sessions that are created, deleted, suspended, resumed, recreated under their name and lose their pods, as `random`
 * decides.
 */
export function buildChurn(cluster: Cluster, node: Node, random: () => number) {
  const api = buildAccess(cluster);
  const volumes: string[] = [];
  const pick = <T>(items: T[]): T | undefined => items[Math.floor(random() * items.length)];
  const list = async <T>(plural: 'sessions' | 'pods'): Promise<T[]> => {
    const path = buildListPath(cluster.namespace, plural);
    return (await cluster.kubernetes.request<{ items: T[] }>({ method: 'GET', path })).items;
  };
  const addVolume = async ({ standby }: { standby: boolean }): Promise<void> => {
    const spec = standby ? { standbyUntil: new Date(Date.now() + 3_600_000).toISOString() } : {};
    volumes.push((await cluster.create(buildVolume(cluster.namespace, spec))).metadata.name);
  };
  const change = async (): Promise<void> => {
    const sessions = await list<Session>('sessions');
    const session = pick(sessions.sort((a, b) => a.metadata.name.localeCompare(b.metadata.name)));
    const dice = random();
    if (session === undefined || (dice < 0.35 && sessions.length < MOST)) {
      await cluster.create(buildSession(cluster.namespace, { volumeName: pick(volumes) ?? '' }));
    } else if (dice < 0.5) {
      await api.remove('sessions', session.metadata.name);
    } else if (dice < 0.6) {
      await api.remove('sessions', session.metadata.name);
      await cluster.create(buildSession(cluster.namespace, session.spec));
    } else if (dice < 0.9) {
      const desiredState = session.spec.desiredState === 'Running' ? 'Suspended' : 'Running';
      await api.patch('sessions', session.metadata.name, { spec: { desiredState } });
    } else if (session.status?.podName !== undefined) {
      const evicted = { phase: 'Failed', reason: 'Evicted', message: 'by the test' };
      await node.report(session.status.podName, evicted).catch(() => undefined);
    }
  };
  /** Every session matches its spec, and every pod belongs to a session or a volume that needs it. */
  const isSettled = async (): Promise<boolean> => {
    const [sessions, pods] = await Promise.all([list<Session>('sessions'), list<Pod>('pods')]);
    const owned = Map.groupBy(pods, ({ metadata }) => metadata.labels?.[LABELS.sessionUid]);
    const known = new Set<string | undefined>(sessions.map(({ metadata }) => metadata.uid));
    const isOrphan = [...owned.keys()].some((uid) => uid !== undefined && !known.has(uid));
    return (
      !isOrphan &&
      sessions.every(({ metadata, spec, status }) => {
        const own = owned.get(metadata.uid) ?? [];
        if (spec.desiredState !== 'Running') return status?.phase === 'Suspended' && own.length === 0;
        return status?.phase === 'Running' && own.length === 1 && own[0]?.metadata.uid === status.podUid;
      })
    );
  };
  return { addVolume, change, isSettled };
}
