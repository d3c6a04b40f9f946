import { createHash } from 'node:crypto';
import type { SandboxTarget, VolumeKey } from '../sandbox.ts';

/** 40 hexadecimal digits of the hash of these texts, none of which can run into the next. */
function digest(...texts: string[]): string {
  return createHash('sha256').update(JSON.stringify(texts)).digest('hex').slice(0, 40);
}

/** Every process names the same volume alike, and no two volumes have one name. */
export function buildVolumeName({ organizationId, agentId, subjectId }: VolumeKey): string {
  return `vol-${digest(organizationId, agentId, subjectId)}`;
}

export function buildSessionName({ sessionId }: Pick<SandboxTarget, 'sessionId'>): string {
  return sessionId.replaceAll('_', '-');
}

/** A label that all resources of one agent share. */
export function buildAgentLabel({ organizationId, agentId }: Omit<VolumeKey, 'subjectId'>): string {
  return digest(organizationId, agentId);
}
