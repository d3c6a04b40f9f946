import { createHash } from 'node:crypto';
import type { SandboxTarget, VolumeKey } from '../sandbox.ts';

/** 40 hexadecimal digits of a hash; JSON keeps the texts apart. */
function digest(...texts: string[]): string {
  return createHash('sha256').update(JSON.stringify(texts)).digest('hex').slice(0, 40);
}

/** Unique per volume, and the same in every process. */
export function buildVolumeName({ organizationId, agentId, subjectId }: VolumeKey): string {
  return `vol-${digest(organizationId, agentId, subjectId)}`;
}

export function buildSessionName({ sessionId }: Pick<SandboxTarget, 'sessionId'>): string {
  return sessionId.replaceAll('_', '-');
}

/** The label value that all resources of one agent share. */
export function buildAgentLabel({ organizationId, agentId }: Omit<VolumeKey, 'subjectId'>): string {
  return digest(organizationId, agentId);
}
