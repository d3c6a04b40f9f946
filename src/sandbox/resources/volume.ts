import { z } from 'zod';
import type { ResourceMeta } from '../../platform/kubernetes/resource.ts';
import {
  Conditions,
  DateTime,
  FAILURE_FIELDS,
  ResourceName,
  ResourceSubject,
  identifier,
  immutable,
  nameKind,
  rules,
} from '../../platform/kubernetes/resource.ts';

/** A volume grows when its usage exceeds this share of its size. */
export const GROW_AT = 0.8;

/** A standby pod cannot be requested for longer: a later time is from a wrong clock. */
export const MAX_STANDBY_MS = 24 * 3_600_000;

/** Sizes of a volume that names none. */
export const DEFAULT_SIZES = { initialSize: '512Mi', maxSize: '4Gi' } as const;

const size = z.string().regex(/^[1-9][0-9]{0,5}(Mi|Gi)$/);

const VolumeSpec = z
  .object({
    organizationId: identifier('The organization that the files belong to.'),
    agentId: identifier('The agent that works with them.'),
    subjectId: ResourceSubject,
    publicKey: z
      .string()
      .regex(/^[A-Za-z0-9_-]{43}$/)
      .meta({
        description:
          'Ed25519 public key, base64url: executors on this volume accept calls signed with its private key.',
      }),
    sandboxClass: ResourceName.optional().meta({
      description:
        'The SandboxClass of this namespace that its claim and standby pod are made by; the settings of the operator unless set.',
    }),
    initialSize: size.default(DEFAULT_SIZES.initialSize).meta({ description: 'Initial size of the claim.' }),
    maxSize: size
      .default(DEFAULT_SIZES.maxSize)
      .meta({ description: 'Maximum size; the claim is doubled as it fills.' }),
    standbyUntil: DateTime.optional().meta({
      description:
        'While this lies ahead and no session has a pod on the volume, one standby pod mounts it: it serves the ' +
        "files, and the subject's next session adopts it. A time more than a day ahead does not count.",
    }),
  })
  .meta({
    description: 'The desired state. Written by the control plane.',
    ...rules(
      ...immutable('organizationId', 'agentId', 'subjectId', 'initialSize'),
      {
        rule: 'quantity(self.maxSize).compareTo(quantity(self.initialSize)) >= 0',
        message: 'maxSize must be at least initialSize',
        fieldPath: '.maxSize',
      },
      {
        rule: 'quantity(self.maxSize).compareTo(quantity(oldSelf.maxSize)) >= 0',
        message: 'maxSize cannot shrink',
        fieldPath: '.maxSize',
      },
    ),
  });

export const VOLUME_PHASES = ['Pending', 'Ready', 'Resizing', 'Failed'] as const;

const Backup = z.object({ snapshot: z.string(), at: DateTime });

const VolumeStatus = z
  .object({
    observedGeneration: z.int().min(0).optional(),
    phase: z
      .enum(VOLUME_PHASES)
      .optional()
      .meta({
        description:
          'Pending: the claim is not bound and no pod waits for it, or a pod does. Ready: bound. Resizing: growing. ' +
          'Failed: the claim is lost or cannot be made; the condition Ready says why.',
      }),
    claimName: z.string().optional().meta({
      description: 'The PersistentVolumeClaim: named as the volume, unless it was taken from a warm pool.',
    }),
    disk: z.string().optional().meta({ description: 'The PersistentVolume behind the claim.' }),
    lostDisk: z.string().optional().meta({
      description: 'The PersistentVolume that held the files before it was lost; see the condition FilesLost.',
    }),
    size: z.string().optional().meta({ description: 'Capacity of the claim; its request while it is not bound.' }),
    used: z.string().optional(),
    usedBytes: z.int().min(0).optional(),
    podName: z.string().optional().meta({ description: 'The standby pod.' }),
    podUid: z.string().optional(),
    podIP: z.string().optional().meta({ description: 'Set while the standby pod accepts calls.' }),
    publicKey: z.string().optional().meta({ description: 'Fingerprint of the key that the standby pod trusts.' }),
    lastBackup: Backup.optional().meta({ description: 'The newest VolumeSnapshot that is ready.' }),
    pendingBackup: Backup.optional().meta({ description: 'The VolumeSnapshot that is being taken.' }),
    ...FAILURE_FIELDS,
    conditions: Conditions.optional(),
  })
  .meta({ description: 'The observed state. Written by the operator.' });

/** One subject's files under one agent. */
export const Volume = z.object({ spec: VolumeSpec, status: VolumeStatus.optional() }).meta({
  description: "A subject's files under one agent: they outlive sessions and pods.",
  ...rules({
    // Labels of its claim and pods contain it.
    rule: "self.metadata.name.size() <= 63 && !self.metadata.name.contains('.')",
    message: 'the name must have at most 63 characters and no dots',
  }),
});

export type VolumeSpec = z.infer<typeof VolumeSpec>;
export type VolumeStatus = z.infer<typeof VolumeStatus>;
export type VolumePhase = (typeof VOLUME_PHASES)[number];
export type Volume = { metadata: ResourceMeta; spec: VolumeSpec; status?: VolumeStatus };

export const VOLUME_KIND = nameKind(
  'Volume',
  'cvol',
  {
    Size: '.status.size',
    Used: '.status.used',
    Pod: '.status.podName',
  },
  [
    { name: 'Organization', type: 'string', jsonPath: '.spec.organizationId' },
    { name: 'Disk', type: 'string', jsonPath: '.status.disk' },
    { name: 'Lost Disk', type: 'string', jsonPath: '.status.lostDisk' },
    { name: 'Last Backup', type: 'date', jsonPath: '.status.lastBackup.at' },
    { name: 'Message', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].message' },
  ],
);
