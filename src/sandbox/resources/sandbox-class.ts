// Tests: test/cluster/sandbox-class.test.ts
import { z } from 'zod';
import { Conditions } from '../../platform/kubernetes/resource.ts';
import type { ResourceMeta } from '../../platform/kubernetes/resource.ts';

const texts = z.record(z.string(), z.string());
const quantities = z.record(z.string(), z.string().max(32));
/** In Kubernetes' format; the API server validates it in the pod. */
const raw = z.looseObject({}).meta({ 'x-kubernetes-preserve-unknown-fields': true });
const size = z.string().regex(/^[1-9][0-9]{0,5}(Mi|Gi)$/);

const SandboxClassSpec = z
  .object({
    image: z.string().min(1).max(512).optional().meta({ description: 'Built on the sandbox image of Capstan.' }),
    resources: z.object({ requests: quantities.optional(), limits: quantities.optional() }).optional().meta({
      description:
        'Resources of the container, including GPUs and other extended resources. They override the defaults by name.',
    }),
    nodeSelector: texts.optional(),
    tolerations: z.array(raw).max(32).optional(),
    affinity: raw.optional().meta({
      description: 'nodeAffinity and podAntiAffinity as in a pod. podAffinity is set by the operator.',
      'x-kubernetes-preserve-unknown-fields': true,
    }),
    priorityClassName: z.string().max(253).optional(),
    runtimeClassName: z.string().max(253).optional(),
    schedulerName: z.string().max(253).optional(),
    imagePullSecrets: z
      .array(z.object({ name: z.string().max(253) }))
      .max(16)
      .optional(),
    annotations: texts.optional().meta({ description: 'For the pods; those of capstan.dev are set by the operator.' }),
    labels: texts.optional().meta({ description: 'For the pods; those of capstan.dev are set by the operator.' }),
    hostUsers: z.boolean().optional().meta({ description: 'false: pods run in a user namespace of their own.' }),
    egress: z.enum(['Default', 'None']).optional().meta({
      description:
        'None: nothing but DNS can be reached. Further rules: a NetworkPolicy that selects the label capstan.dev/class.',
    }),
    volume: z
      .object({
        storageClassName: z.string().max(253).optional().meta({ description: 'StorageClass of the claims.' }),
        initialSize: size.optional().meta({ description: 'What a claim begins with.' }),
        maxSize: size.optional().meta({ description: 'Up to where a claim is doubled as it fills.' }),
        backup: z
          .object({
            everyHours: z.number().min(0).max(8760),
            keep: z.int().min(1).max(100).optional(),
            snapshotClassName: z.string().max(253).optional(),
          })
          .optional()
          .meta({
            description:
              'How often VolumeSnapshots are taken, at most every minute, and how many are kept; 0 hours: never.',
          }),
      })
      .optional()
      .meta({ description: 'Applies to new claims; maxSize and backup to all claims.' }),
    warm: z
      .object({
        target: z.int().min(0).max(1000).default(0).meta({ description: 'Pods that are kept ready. Scalable.' }),
      })
      .optional()
      .meta({
        description: 'Pods with an empty disk that wait for anyone: the first pod of a new volume is one of them.',
      }),
  })
  .meta({ description: 'Fields set here override the settings of the operator.' });

const SandboxClassStatus = z
  .object({
    observedGeneration: z.int().min(0).optional(),
    warm: z
      .object({
        pods: z.int().min(0).meta({ description: 'Pods of the pool, ready or starting.' }),
        ready: z.int().min(0).meta({ description: 'Pods that a volume can take now.' }),
        selector: z.string().meta({ description: 'Label selector of the pods of the pool.' }),
      })
      .optional(),
    conditions: Conditions.optional(),
  })
  .meta({ description: 'The observed state of the warm pool. Written by the operator.' });

/** How the sandboxes of some agents are created. */
export const SandboxClass = z.object({ spec: SandboxClassSpec, status: SandboxClassStatus.optional() }).meta({
  description:
    'How sandbox pods and volumes are made, for the agents that name this class in environment.sandboxClass.',
});

export type SandboxClassSpec = z.infer<typeof SandboxClassSpec>;
export type SandboxClassStatus = z.infer<typeof SandboxClassStatus>;
export type SandboxClass = { metadata: ResourceMeta; spec: SandboxClassSpec; status?: SandboxClassStatus };

export const SANDBOX_CLASS_KIND = {
  kind: 'SandboxClass',
  plural: 'sandboxclasses',
  singular: 'sandboxclass',
  shortNames: ['sbc'],
  selectable: [],
  /** `kubectl scale` and autoscalers set the size of the warm pool */
  scale: {
    specReplicasPath: '.spec.warm.target',
    statusReplicasPath: '.status.warm.pods',
    labelSelectorPath: '.status.warm.selector',
  },
  columns: [
    { name: 'Image', type: 'string', jsonPath: '.spec.image' },
    { name: 'Runtime', type: 'string', jsonPath: '.spec.runtimeClassName' },
    { name: 'Storage', type: 'string', jsonPath: '.spec.volume.storageClassName' },
    { name: 'Egress', type: 'string', jsonPath: '.spec.egress' },
    { name: 'Warm', type: 'integer', jsonPath: '.status.warm.ready' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
} as const;
