import { SandboxError, SandboxRefusedError } from '../../../sandbox/sandbox.ts';
import type { VolumeFiles, VolumeKey } from '../../../sandbox/sandbox.ts';
import { MAX_VOLUME_BYTES } from '../../../sandbox/volume-size.ts';
import type { Volume } from '../../contract/files.ts';
import { errors } from '../../../platform/errors.ts';
import { hasAgent } from '../../store/agents.ts';
import { isBeingDeleted } from '../../store/removals.ts';
import type { Caller } from '../../../platform/http/deps.ts';
import type { ApiDeps } from '../deps.ts';
import { describeFileError } from './file-errors.ts';

export type SubjectParams = { agentId: string; subjectId: string };

type VolumeRequest = { caller: Caller; params: SubjectParams };

/** Throws `not_found` also for another organization's agent. */
export async function getVolumeKey(deps: ApiDeps, caller: Caller, params: SubjectParams): Promise<VolumeKey> {
  const { organizationId } = caller;
  if (!(await hasAgent(deps.db, organizationId, params.agentId))) throw errors.notFound('agent');
  return { organizationId, ...params };
}

/**
 * Deletes a new volume if its agent was deleted meanwhile, and then throws `not_found`. Throws `invalid_state` while the
 * subject is being deleted.
 */
export async function dropOrphan(deps: ApiDeps, key: VolumeKey): Promise<void> {
  if (!(await hasAgent(deps.db, key.organizationId, key.agentId))) {
    await deps.sandboxes.deleteVolumes(key);
    throw errors.notFound('agent');
  }
  // The deletion removes what was made.
  if (await isBeingDeleted(deps.db, key)) throw errors.invalidState('The subject is being deleted.');
}

/**
 * Reads from the volume, once more when its executor ended meanwhile; `undefined` where there is no volume. A volume is
 * its organization's and goes with its agent, so the agent is looked up only where there is none. Failures become
 * answers.
 */
export async function readVolume<T>(
  deps: ApiDeps,
  { caller, params }: VolumeRequest,
  kind: 'read' | 'list',
  act: (files: VolumeFiles) => Promise<T>,
): Promise<T | undefined> {
  const { organizationId } = caller;
  const attempt = async (): Promise<T | undefined> => {
    const files = await deps.sandboxes.openVolume({ organizationId, ...params }, { create: false });
    if (files !== undefined) {
      await deps.subjectActivity.note({ organizationId, ...params });
      return act(files);
    }
    await getVolumeKey(deps, caller, params);
    return undefined;
  };
  try {
    return await attempt().catch((error: unknown) => {
      if (error instanceof SandboxError && !(error instanceof SandboxRefusedError)) return attempt();
      throw error;
    });
  } catch (error) {
    throw describeFileError(error, { kind, field: 'path' });
  }
}

/**
 * Changes the volume; nothing is tried twice. `field` names the path that is changed. Without `create` a missing volume
 * is `not_found`. As in `readVolume`, the agent is looked up only where there is no volume yet.
 */
export async function changeVolume<T>(
  deps: ApiDeps,
  { caller, params }: VolumeRequest,
  options: { create: boolean; field?: string },
  act: (files: VolumeFiles) => Promise<T>,
): Promise<T> {
  const { organizationId } = caller;
  try {
    let files = await deps.sandboxes.openVolume({ organizationId, ...params }, { create: false });
    if (files === undefined) {
      const key = await getVolumeKey(deps, caller, params);
      if (options.create) {
        files = await deps.sandboxes.openVolume(key, { create: true });
        await dropOrphan(deps, key);
      }
    }
    if (files === undefined) throw errors.notFound('file or folder');
    await deps.subjectActivity.note({ organizationId, ...params });
    return await act(files);
  } catch (error) {
    throw describeFileError(error, { kind: 'change', field: options.field ?? 'path' });
  }
}

export async function describeVolume(deps: ApiDeps, key: VolumeKey): Promise<Volume> {
  const info = await deps.sandboxes.describeVolume(key);
  const { sizeBytes, usedBytes } = info ?? { sizeBytes: 0, usedBytes: 0 };
  return {
    object: 'sandbox.volume',
    agentId: key.agentId,
    subjectId: key.subjectId,
    status: info?.status ?? 'none',
    sizeBytes,
    usedBytes,
    availableBytes: Math.max(0, sizeBytes - usedBytes),
    maxSizeBytes: MAX_VOLUME_BYTES,
    createdAt: info?.createdAt.toISOString() ?? null,
    updatedAt: info?.updatedAt.toISOString() ?? null,
  };
}
