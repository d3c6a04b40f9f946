import { z } from 'zod';

/** The API group of the custom resources. */
export const GROUP = 'capstan.dev';
export const VERSION = 'v1alpha1';
export const API_VERSION = `${GROUP}/${VERSION}`;

/** Labels name what a pod or claim belongs to. Only the owner's UID proves it. */
export const LABELS = {
  managedBy: 'app.kubernetes.io/managed-by',
  component: 'app.kubernetes.io/component',
  /** name of the Volume, on its claim and on all pods that mount it */
  volume: `${GROUP}/volume`,
  volumeUid: `${GROUP}/volume-uid`,
  /** name of the pod's Session; a standby pod has none */
  session: `${GROUP}/session`,
  sessionUid: `${GROUP}/session-uid`,
  /** fingerprint of the agent, to find all its resources */
  agent: `${GROUP}/agent`,
  /** for people and reports of cost: whom a pod works for; a subject that is no label value has no label */
  organizationId: `${GROUP}/organization-id`,
  agentId: `${GROUP}/agent-id`,
  /** name of the pod's SandboxClass */
  sandboxClass: `${GROUP}/class`,
  /** `none`: the chart's network policies let nothing out but DNS */
  egress: `${GROUP}/egress`,
  subjectId: `${GROUP}/subject-id`,
  /** `true` on the pods and claims of a warm pool that no volume has taken */
  warm: `${GROUP}/warm`,
} as const;

/** Fingerprint of the public key that the pod's executor trusts. */
export const KEY_ANNOTATION = `${GROUP}/public-key`;

/** On a pod of a warm pool: fingerprint of all that it is made from. A volume takes only a pod that it would make itself. */
export const TEMPLATE_ANNOTATION = `${GROUP}/template`;

/** On a pod that a volume took from a warm pool: when. */
export const TAKEN_ANNOTATION = `${GROUP}/taken-at`;

/** On a Volume: the usage that made a service report it. The operator polls the volume when this changes. */
export const USAGE_ANNOTATION = `${GROUP}/seen-used-bytes`;

/** On a Volume: name of the PersistentVolume whose loss somebody has confirmed. An empty claim then replaces it. */
export const LOSS_ACCEPTED_ANNOTATION = `${GROUP}/files-lost-accepted`;

/** On a Volume without a claim, new or lost: name of the PersistentVolume that the next claim is bound to. */
export const RESTORE_ANNOTATION = `${GROUP}/restore-disk`;

/** On a Volume without a claim: name of the VolumeSnapshot that the next claim is restored from. */
export const RESTORE_SNAPSHOT_ANNOTATION = `${GROUP}/restore-snapshot`;

/** The port of the executor in a pod. */
export const EXECUTOR_PORT = 8090;

/** A CEL rule, checked by the API server; one that names `oldSelf` applies to updates. */
export type Rule = { rule: string; message: string; fieldPath?: string };

export function rules(...list: Rule[]): Record<string, Rule[]> {
  return { 'x-kubernetes-validations': list };
}

type Column = { name: string; type: 'string' | 'date'; jsonPath: string; priority?: 1 };

/** Fields that `kubectl get --field-selector` takes. */
const SELECTABLE = ['.spec.organizationId', '.spec.agentId', '.spec.subjectId', '.status.phase'];

/** The names of a kind and its columns in `kubectl get`: `columns` between phase and age, `wide` only with `-o wide`. */
export function nameKind<K extends string>(
  kind: K,
  shortName: string,
  columns: Record<string, string>,
  wide: readonly Column[] = [],
) {
  const singular = kind.toLowerCase() as Lowercase<K>;
  const shown = { Agent: '.spec.agentId', Subject: '.spec.subjectId', Phase: '.status.phase', ...columns };
  return {
    kind,
    plural: `${singular}s` as const,
    singular,
    shortNames: [shortName],
    selectable: SELECTABLE,
    columns: [
      ...Object.entries(shown).map(([name, jsonPath]): Column => ({ name, type: 'string', jsonPath })),
      { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' } satisfies Column,
      ...wide.map((column): Column => ({ ...column, priority: 1 })),
    ],
  };
}

/** A rule for each field: it cannot be changed. */
export function immutable(...fields: string[]): Rule[] {
  return fields.map((field) => ({
    rule: `self.${field} == oldSelf.${field}`,
    message: `${field} cannot be changed`,
    fieldPath: `.${field}`,
  }));
}

export const identifier = (what: string) =>
  z
    .string()
    .min(1)
    .max(63)
    .regex(/^[a-z0-9]([a-z0-9_]*[a-z0-9])?$/)
    .meta({ description: what });

export const ResourceName = z
  .string()
  .min(1)
  .max(63)
  .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/);

export const ResourceSubject = z
  .string()
  .min(1)
  .max(256)
  // eslint-disable-next-line no-control-regex -- control characters are refused
  .regex(/^[^\x00-\x1f\x7f-\x9f]+$/)
  .meta({ description: 'Whom the agent serves, as the application names it.' });

export const DateTime = z.string().meta({ format: 'date-time' });

export const Condition = z
  .object({
    type: z.string().min(1).max(64),
    status: z.enum(['True', 'False', 'Unknown']),
    observedGeneration: z.int().min(0).optional(),
    lastTransitionTime: DateTime,
    reason: z
      .string()
      .min(1)
      .max(64)
      .regex(/^[A-Za-z]([A-Za-z0-9]*[A-Za-z0-9])?$/),
    message: z.string().max(2000),
  })
  .meta({ description: 'One aspect of the state, as metav1.Condition.' });
export type Condition = z.infer<typeof Condition>;

export const Conditions = z
  .array(Condition)
  .max(16)
  .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] });

export type OwnerReference = {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
};

/** Failures of pods, so that restarts are delayed. */
export const FAILURE_FIELDS = {
  failures: z.int().min(0).optional().meta({ description: 'Pods in a row that ended without ever taking calls.' }),
  failedPodUid: z.string().optional(),
  lastFailureAt: DateTime.optional(),
};

/** The metadata fields that are used here. Times are ISO 8601 text. */
export type ResourceMeta = {
  name: string;
  namespace: string;
  uid: string;
  resourceVersion: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  ownerReferences?: Pick<OwnerReference, 'uid' | 'controller'>[];
};
