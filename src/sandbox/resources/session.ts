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

const SessionSpec = z
  .object({
    sessionId: identifier('Identifier of the session; the name of this resource with "_" for "-".'),
    organizationId: identifier('The organization that the session belongs to.'),
    agentId: identifier('The agent of the session.'),
    subjectId: ResourceSubject,
    volumeName: ResourceName.meta({ description: 'The Volume that the pod mounts, in the same namespace.' }),
    sandboxClass: ResourceName.optional().meta({
      description:
        'The SandboxClass of this namespace that its pod is made by; the settings of the operator unless set.',
    }),
    desiredState: z.enum(['Running', 'Suspended']).default('Suspended').meta({
      description: 'Running: a pod runs while the session is in use. Suspended: no pod runs.',
    }),
    lastActivityAt: DateTime.optional().meta({
      description: 'Time of the last use; the pod is removed after the idle timeout.',
    }),
  })
  .meta({
    description: 'The desired state. Written by the control plane.',
    ...rules(...immutable('sessionId', 'organizationId', 'agentId', 'subjectId', 'volumeName'), {
      rule:
        '!has(oldSelf.lastActivityAt) || (has(self.lastActivityAt) && (self.lastActivityAt >= oldSelf.lastActivityAt' +
        " || oldSelf.lastActivityAt > self.lastActivityAt + duration('1h')))",
      message: 'lastActivityAt cannot go back, except by more than an hour to correct a wrong clock',
      fieldPath: '.lastActivityAt',
    }),
  });

export const SESSION_PHASES = ['Pending', 'Starting', 'Running', 'Suspending', 'Suspended', 'Failed'] as const;

const SessionStatus = z
  .object({
    observedGeneration: z.int().min(0).optional(),
    phase: z
      .enum(SESSION_PHASES)
      .optional()
      .meta({
        description:
          'Pending: waits for its volume or an earlier pod. Starting: its pod exists and is not ready. Running: its pod ' +
          'takes calls. Suspending: its pod goes. Suspended: it has none and needs none. Failed: it cannot start ' +
          'without somebody mending something; the condition Ready says what.',
      }),
    podName: z.string().optional(),
    podUid: z.string().optional(),
    podIP: z.string().optional(),
    nodeName: z.string().optional(),
    publicKey: z.string().optional().meta({ description: 'Fingerprint of the key that the pod trusts.' }),
    futureActivity: z.object({ lastActivityAt: DateTime, seenAt: DateTime }).optional().meta({
      description: 'spec.lastActivityAt is in the future by the clock of the operator, and counts as seenAt.',
    }),
    ...FAILURE_FIELDS,
    conditions: Conditions.optional(),
  })
  .meta({ description: 'The observed state. Written by the operator.' });

/** One conversation's sandbox. */
export const Session = z.object({ spec: SessionSpec, status: SessionStatus.optional() }).meta({
  description: 'A session of an agent: while it is in use, its own pod runs its tools on its Volume.',
  ...rules({
    rule: "self.metadata.name == self.spec.sessionId.replace('_', '-')",
    message: 'the name must be spec.sessionId with "_" replaced by "-"',
  }),
});

export type SessionSpec = z.infer<typeof SessionSpec>;
export type SessionStatus = z.infer<typeof SessionStatus>;
export type SessionPhase = (typeof SESSION_PHASES)[number];
export type Session = { metadata: ResourceMeta; spec: SessionSpec; status?: SessionStatus };

export const SESSION_KIND = nameKind(
  'Session',
  'sess',
  {
    Status: '.status.conditions[?(@.type=="Ready")].reason',
    Pod: '.status.podName',
    Node: '.status.nodeName',
  },
  [
    { name: 'Organization', type: 'string', jsonPath: '.spec.organizationId' },
    { name: 'Volume', type: 'string', jsonPath: '.spec.volumeName' },
    { name: 'Last Activity', type: 'date', jsonPath: '.spec.lastActivityAt' },
    { name: 'Message', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].message' },
  ],
);
