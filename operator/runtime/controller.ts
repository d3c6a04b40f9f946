import type { Session } from '../../src/sandbox/resources/session.ts';
import type { SandboxClass } from '../../src/sandbox/resources/sandbox-class.ts';
import type { Volume } from '../../src/sandbox/resources/volume.ts';
import type { Kubernetes } from '../../src/platform/kubernetes/client.ts';
import type { Informer } from '../../src/platform/kubernetes/informer.ts';
import type { Claim, Pod } from '../../src/platform/kubernetes/types.ts';
import type { PodOptions } from '../pod/build.ts';
import type { BackupPolicy, Backups } from '../volume/backup-policy.ts';
import type { LostClaimPolicy } from '../volume/loss.ts';
import type { Expectations } from './expectations.ts';
import type { Refusals } from './refusals.ts';
import type { DeferredStatus } from './status.ts';
import type { Writer } from './writer.ts';

export type ControllerOptions = {
  /** how long a session may be idle before its pod is removed */
  idleMs: number;
  pod: PodOptions;
  /** of the claims; default: the cluster's default class */
  storageClassName?: string;
  /** when a claim is gone; default: halt */
  onLostClaim?: LostClaimPolicy;
  /** of volumes whose class has no policy of its own; default: none */
  backup?: BackupPolicy | undefined;
};

/** What reconciling reads and writes, for one term of leadership. */
export type Controller = {
  kubernetes: Kubernetes;
  namespace: string;
  options: ControllerOptions;
  caches: {
    /** indexes `volume` and `class`: names in the spec */
    sessions: Informer<Session>;
    /** index `class` */
    volumes: Informer<Volume>;
    /** indexes `session` and `volume`: names in the pod's labels; `pool`: class of a pod that no volume has taken */
    pods: Informer<Pod>;
    /** index `volume`: name in the claim's labels */
    claims: Informer<Claim>;
    classes: Informer<SandboxClass>;
  };
  expectations: Expectations;
  writer: Writer;
  deferredStatus: DeferredStatus;
  refusals: Refusals;
  backups: Backups;
  warm: WarmWrites;
  /** bytes in use, by UID of the volume, as last reported by an executor */
  usage: Map<string, number>;
  /** a session's pod became ready, this long after it was requested */
  onSessionReady: (ms: number) => void;
  /** a new volume took a pod of the class's warm pool, or found none */
  onWarmTake: (className: string, result: 'warm' | 'cold') => void;
};

/** Writes on warm pools that the caches may not show yet. */
export type WarmWrites = {
  /** keys of created pods and claims, by class */
  created: Map<string, Set<string>>;
  /** name of the pod and claim that a volume took, by volume */
  taken: Map<string, string>;
};
