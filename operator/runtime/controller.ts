import type { Session } from '../../src/sandbox/resources/session.ts';
import type { Volume } from '../../src/sandbox/resources/volume.ts';
import type { Kubernetes } from '../../src/platform/kubernetes/client.ts';
import type { Informer } from '../../src/platform/kubernetes/informer.ts';
import type { Claim, Pod } from '../../src/platform/kubernetes/types.ts';
import type { PodOptions } from '../pod/build.ts';
import type { Expectations } from './expectations.ts';
import type { Untold } from './status.ts';
import type { Writer } from './writer.ts';

export type ControllerOptions = {
  /** how long a session may be out of use before its pod goes */
  idleMs: number;
  pod: PodOptions;
  /** of the claims; the cluster's default unless set */
  storageClassName?: string;
};

/** What a reconcile reads and writes with, for one term of leadership. */
export type Controller = {
  kubernetes: Kubernetes;
  namespace: string;
  options: ControllerOptions;
  caches: {
    /** index `volume`: the name of its volume */
    sessions: Informer<Session>;
    volumes: Informer<Volume>;
    /** indexes `session` and `volume`: the names on its labels */
    pods: Informer<Pod>;
    claims: Informer<Claim>;
  };
  expectations: Expectations;
  writer: Writer;
  untold: Untold;
  /** bytes in use by the UID of the volume, as its executors told last */
  usage: Map<string, number>;
  /** a session's pod takes calls, so long after somebody wanted it */
  onStart: (ms: number) => void;
};
