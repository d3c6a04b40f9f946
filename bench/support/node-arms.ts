import { randomBytes } from 'node:crypto';
import { buildExecutorPod } from '../../operator/pod/build.ts';
import { API_VERSION } from '../../src/platform/kubernetes/resource.ts';
import type { ResourceMeta } from '../../src/platform/kubernetes/resource.ts';
import type { Session } from '../../src/sandbox/resources/session.ts';
import type { Volume } from '../../src/sandbox/resources/volume.ts';
import { startInformer } from '../../src/platform/kubernetes/informer.ts';
import type { Informer } from '../../src/platform/kubernetes/informer.ts';
import { buildListPath } from '../../src/platform/kubernetes/paths.ts';
import type { Pod } from '../../src/platform/kubernetes/types.ts';
import { openLog } from '../../src/platform/log.ts';
import { until } from './kwok.ts';
import type { NodeCluster } from './node-cluster.ts';

/** One way to get a sandbox. Each step resolves with its milliseconds, from the request to the ready condition. */
export type Arm = {
  name: string;
  /** with a new volume */
  start(): Promise<number>;
  /** deletes the pod, keeps the volume */
  suspend(): Promise<number>;
  /** a new pod on the same volume */
  resume(): Promise<number>;
  /** with a standby pod; absent if the arm has none */
  warm?: { prepare(): Promise<void>; start(): Promise<number> };
  remove(): Promise<void>;
};

type Conditioned = {
  metadata: ResourceMeta;
  status?: { conditions?: { type: string; status: string }[]; readyReplicas?: number };
};

const KEY = 'A'.repeat(43);
const SIZE = '512Mi';
const AGENTS = 'agents.x-k8s.io/v1beta1';
const EXTENSIONS = 'extensions.agents.x-k8s.io/v1beta1';
const log = openLog({ level: 'error', pretty: false });
const newName = (): string =>
  randomBytes(13)
    .toString('hex')
    .replaceAll(/[ilou]/g, '0');
const isReady = (object: Conditioned | Pod | undefined): boolean =>
  object?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true;

/** The objects of the cluster that the arms create and watch. */
function openObjects({ kubernetes, namespace }: NodeCluster) {
  const informers: { close(): Promise<void> }[] = [];
  /** called at each change of any object */
  const looks = new Set<() => void>();
  const follow = <T extends Conditioned>(path: string): Informer<T> => {
    const informer = startInformer<T>({ kubernetes, path, strip: (object) => object, log });
    informer.onChange(() => looks.forEach((look) => look()));
    informers.push(informer);
    return informer;
  };
  const pathOf = (group: string, plural: string): string => `/apis/${group}/namespaces/${namespace}/${plural}`;
  const post = (path: string, body: object) => kubernetes.request({ method: 'POST', path, body });
  const patch = (path: string, spec: object) => kubernetes.request({ method: 'PATCH', path, body: { spec } });
  const remove = (path: string) => kubernetes.request({ method: 'DELETE', path }).catch(() => undefined);
  const measure = async (ask: () => Promise<unknown>, holds: () => boolean): Promise<number> => {
    const begunMs = performance.now();
    const there = new Promise<number>((resolve) => {
      const look = (): void => {
        if (!holds()) return;
        looks.delete(look);
        resolve(performance.now() - begunMs);
      };
      looks.add(look);
    });
    await ask();
    return there;
  };

  const paths = {
    pods: buildListPath(namespace, 'pods'),
    claims: buildListPath(namespace, 'persistentvolumeclaims'),
    sessions: buildListPath(namespace, 'sessions'),
    volumes: buildListPath(namespace, 'volumes'),
    sandboxes: pathOf(AGENTS, 'sandboxes'),
    sandboxClaims: pathOf(EXTENSIONS, 'sandboxclaims'),
    pools: pathOf(EXTENSIONS, 'sandboxwarmpools'),
    templates: pathOf(EXTENSIONS, 'sandboxtemplates'),
  };
  const pods = follow<Pod & Conditioned>(paths.pods);
  const sessions = follow<Session & Conditioned>(paths.sessions);
  const volumes = follow<Volume & Conditioned>(paths.volumes);
  const sandboxes = follow<Conditioned>(paths.sandboxes);
  const sandboxClaims = follow<Conditioned>(paths.sandboxClaims);
  const pools = follow<Conditioned>(paths.pools);
  return {
    namespace,
    paths,
    pods,
    sessions,
    volumes,
    sandboxes,
    sandboxClaims,
    pools,
    post,
    patch,
    remove,
    /** ms from `ask` until `holds` is true, checked at each change of any object */
    measure,
    isGone: (name: string): boolean => pods.get(name) === undefined,
    close: async () => void (await Promise.all(informers.map((informer) => informer.close()))),
  };
}

type Objects = ReturnType<typeof openObjects>;
type BuildSpec = (claimName: string | undefined) => object;

const CLAIM_SPEC = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: SIZE } } };

/** The same pod in every arm, built by the operator's code: only its creator differs. */
function buildPodSpecs({ image, namespace }: NodeCluster): BuildSpec {
  const options = {
    image,
    userNamespaces: false,
    requests: { cpu: '20m', memory: '64Mi' },
    limits: { cpu: '2', memory: '2Gi', 'ephemeral-storage': '2Gi' },
  };
  // `claimName`: of an existing claim; undefined if the creator of the pod adds the volume `workspace`.
  return (claimName) => {
    const files = { namespace, claimName: claimName ?? 'none', publicKey: KEY, maxSize: '4Gi' };
    const owner = { apiVersion: 'v1', kind: 'none', name: 'none', uid: 'none' };
    const { spec } = buildExecutorPod(files, options, { name: 'none', owner, labels: {} });
    const isOwn = claimName !== undefined;
    const volumes = spec.volumes?.filter(({ name }) => isOwn || name !== 'workspace');
    return Object.assign(spec, { volumes });
  };
}

function buildBare({ namespace, paths, pods, post, remove, measure, isGone }: Objects, buildSpec: BuildSpec): Arm {
  let name = '';
  const make = () =>
    post(paths.pods, { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace }, spec: buildSpec(name) });
  const ready = () => isReady(pods.get(name));
  const suspend = () =>
    measure(
      () => remove(`${paths.pods}/${name}`),
      () => isGone(name),
    );
  return {
    name: 'bare pod',
    start() {
      name = `bare-${newName()}`;
      const metadata = { name, namespace };
      const claim = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata, spec: CLAIM_SPEC };
      return measure(() => post(paths.claims, claim).then(make), ready);
    },
    suspend,
    resume: () => measure(make, ready),
    async remove() {
      await suspend();
      await remove(`${paths.claims}/${name}`);
    },
  };
}

function buildOwn(objects: Objects): Arm {
  const { namespace, paths, pods, sessions, volumes, post, patch, remove, measure, isGone } = objects;
  let volumeName = '';
  let name = '';
  const identity = { organizationId: 'org_1', agentId: 'agt_1', subjectId: 'ada' };
  const makeVolume = (more: object) => {
    volumeName = `vol-${newName()}`;
    const metadata = { name: volumeName, namespace };
    const spec = { ...identity, publicKey: KEY, ...more };
    return post(paths.volumes, { apiVersion: API_VERSION, kind: 'Volume', metadata, spec });
  };
  const makeSession = () => {
    const sessionId = `ses_${newName()}`;
    name = sessionId.replace('_', '-');
    const lastActivityAt = new Date().toISOString();
    const spec = { ...identity, sessionId, volumeName, desiredState: 'Running', lastActivityAt };
    return post(paths.sessions, { apiVersion: API_VERSION, kind: 'Session', metadata: { name, namespace }, spec });
  };
  const runs = () => sessions.get(name)?.status?.phase === 'Running';
  const want = (desiredState: string) =>
    patch(`${paths.sessions}/${name}`, { desiredState, lastActivityAt: new Date().toISOString() });
  return {
    name: 'capstan',
    start: () => measure(() => makeVolume({}).then(makeSession), runs),
    suspend: () =>
      measure(
        () => want('Suspended'),
        () => isGone(name),
      ),
    resume: () => measure(() => want('Running'), runs),
    warm: {
      async prepare() {
        await makeVolume({ standbyUntil: new Date(Date.now() + 3_600_000).toISOString() });
        const standby = () => pods.get(volumes.get(volumeName)?.status?.podName ?? '');
        await until('the standby pod', () => isReady(standby()));
      },
      start: () => measure(makeSession, runs),
    },
    async remove() {
      // Before the session: otherwise the volume would get a second standby pod.
      await remove(`${paths.volumes}/${volumeName}`);
      await remove(`${paths.sessions}/${name}`);
      const isOwn = ({ metadata }: Pod) => metadata.name === name || metadata.name.startsWith(volumeName);
      await until('its pods are gone', () => !pods.list().some(isOwn));
    },
  };
}

function buildPeer(objects: Objects, buildSpec: BuildSpec): Arm {
  const { namespace, paths, pods, sandboxes, sandboxClaims, pools, post, patch, remove, measure, isGone } = objects;
  const POOL = 'pool';
  let name = '';
  // Its own status may still describe the previous pod.
  const ready = () => isReady(sandboxes.get(name)) && isReady(pods.get(name));
  const mode = (operatingMode: string) => patch(`${paths.sandboxes}/${name}`, { operatingMode });
  const isFull = () => pools.get(POOL)?.status?.readyReplicas === 1;
  return {
    name: 'agent-sandbox',
    start() {
      name = `box-${newName()}`;
      const spec = {
        podTemplate: { spec: buildSpec(undefined) },
        volumeClaimTemplates: [{ metadata: { name: 'workspace' }, spec: CLAIM_SPEC }],
      };
      const body = { apiVersion: AGENTS, kind: 'Sandbox', metadata: { name, namespace }, spec };
      return measure(() => post(paths.sandboxes, body), ready);
    },
    suspend: () =>
      measure(
        () => mode('Suspended'),
        () => isGone(name),
      ),
    resume: () => measure(() => mode('Running'), ready),
    warm: {
      // Its standby pods have their own volumes: a claim with a volume for its user starts cold.
      async prepare() {
        if (pools.get(POOL) === undefined) {
          const podTemplate = { spec: buildSpec(undefined) };
          const volumeClaimTemplates = [{ metadata: { name: 'workspace' }, spec: CLAIM_SPEC }];
          const metadata = { name: POOL, namespace };
          const template = { podTemplate, volumeClaimTemplates, networkPolicyManagement: 'Unmanaged' };
          await post(paths.templates, { apiVersion: EXTENSIONS, kind: 'SandboxTemplate', metadata, spec: template });
          const spec = { replicas: 1, sandboxTemplateRef: { name: POOL } };
          await post(paths.pools, { apiVersion: EXTENSIONS, kind: 'SandboxWarmPool', metadata, spec });
        }
        await until('the pool is full', isFull);
      },
      start() {
        name = `claim-${newName()}`;
        const spec = { warmPoolRef: { name: POOL } };
        const body = { apiVersion: EXTENSIONS, kind: 'SandboxClaim', metadata: { name, namespace }, spec };
        return measure(
          () => post(paths.sandboxClaims, body),
          () => isReady(sandboxClaims.get(name)),
        );
      },
    },
    async remove() {
      await remove(`${name.startsWith('claim') ? paths.sandboxClaims : paths.sandboxes}/${name}`);
      await until('its pod is gone', () => isGone(name) && (pools.get(POOL) === undefined || isFull()));
    },
  };
}

export function openArms(cluster: NodeCluster): {
  /** one sandbox of each kind, not started yet */
  build(): Arm[];
  close(): Promise<void>;
} {
  const objects = openObjects(cluster);
  const buildSpec = buildPodSpecs(cluster);
  return {
    build: () => [buildBare(objects, buildSpec), buildOwn(objects), buildPeer(objects, buildSpec)],
    close: objects.close,
  };
}
