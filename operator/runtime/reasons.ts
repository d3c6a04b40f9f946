/**
 * Every reason that the operator reports in a condition, with what it means for Events:
 *
 * - `routine`: part of every object's life. It stands in the condition, and an Event would repeat it.
 * - `normal`: a Normal Event, for whoever looks into this object.
 * - `warning`: a Warning Event. Somebody should look at it.
 */
const SEVERITIES = {
  // pods
  PodStarting: 'routine',
  SchedulingGated: 'routine',
  PodReady: 'routine',
  PodEnding: 'routine',
  PodNotReady: 'warning',
  PodEnded: 'warning',
  PodFailed: 'warning',
  Evicted: 'warning',
  OutOfMemory: 'warning',
  NodeLost: 'warning',
  ImagePullFailed: 'warning',
  ContainerCannotStart: 'warning',
  Unschedulable: 'warning',
  BackOff: 'warning',
  // refused by the API server: quota, admission, a missing runtime class
  QuotaExceeded: 'warning',
  PodRefused: 'warning',
  ClassNotFound: 'warning',
  // warm pools
  KeyUnknown: 'normal',
  WarmStarting: 'routine',
  WarmReady: 'routine',
  // sessions
  NotStarted: 'routine',
  Idle: 'routine',
  NotWanted: 'routine',
  SessionEnding: 'routine',
  KeyChanged: 'normal',
  EarlierPod: 'normal',
  SpareRemoved: 'warning',
  VolumeNotFound: 'warning',
  VolumeEnding: 'normal',
  VolumeFailed: 'warning',
  VolumeMismatch: 'warning',
  // volumes
  ClaimPending: 'routine',
  ClaimBound: 'routine',
  EarlierClaim: 'warning',
  ClaimEnding: 'warning',
  ClaimLost: 'warning',
  ClaimRefused: 'warning',
  ProvisioningFailed: 'warning',
  FilesLost: 'warning',
  ClaimDeleted: 'warning',
  DiskLost: 'warning',
  FilesRestored: 'normal',
  SnapshotReady: 'routine',
  SnapshotFailed: 'warning',
  SnapshotRefused: 'warning',
  SnapshotsMissing: 'warning',
  SnapshotNotFound: 'warning',
  BackupsOff: 'normal',
  Growing: 'normal',
  GrowthRefused: 'warning',
} as const satisfies Record<string, Severity>;

export type Severity = 'routine' | 'normal' | 'warning';

/** Why the kubelet ended a pod, in its own word, for example `NodeAffinity`. */
export type KubeletReason = string & { readonly kubelet: unique symbol };

export type Reason = keyof typeof SEVERITIES | KubeletReason;

/** A pod that the kubelet ended is always worth a look. */
export function severityOf(reason: Reason): Severity {
  return isOwnReason(reason) ? SEVERITIES[reason] : 'warning';
}

function isOwnReason(reason: string): reason is keyof typeof SEVERITIES {
  return Object.hasOwn(SEVERITIES, reason);
}

/** The kubelet's reason if it is valid in a condition, otherwise `PodFailed`. */
export function readKubeletReason(text: string): Reason {
  return isConditionReason(text) ? text : 'PodFailed';
}

function isConditionReason(text: string): text is KubeletReason {
  return text.length <= 64 && /^[A-Za-z][A-Za-z0-9]*$/.test(text);
}
