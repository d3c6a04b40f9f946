import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { SandboxTarget, VolumeKey } from '../sandbox.ts';

/** Callers choose subject ids. An id that is no plain name becomes a hash behind `~`, which no plain name contains. */
function encodeSegment(id: string): string {
  if (/^[A-Za-z0-9_-]{1,64}$/.test(id)) return id;
  return `~${createHash('sha256').update(id).digest('hex').slice(0, 40)}`;
}

export function volumeFolder(dir: string, key: VolumeKey): string {
  return join(dir, ...[key.organizationId, key.agentId, key.subjectId].map(encodeSegment));
}

export function sessionKey(target: SandboxTarget): string {
  return JSON.stringify([target.organizationId, target.agentId, target.subjectId, target.sessionId]);
}

/** What `sessionKey` was made of. */
export function readSessionKey(key: string): SandboxTarget {
  const [organizationId = '', agentId = '', subjectId = '', sessionId = ''] = JSON.parse(key) as string[];
  return { organizationId, agentId, subjectId, sessionId };
}
