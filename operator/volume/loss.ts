// Tests: test/operator/volume-loss.test.ts, test/cluster/operator-loss.test.ts
import {
  LOSS_ACCEPTED_ANNOTATION,
  RESTORE_ANNOTATION,
  RESTORE_SNAPSHOT_ANNOTATION,
} from '../../src/platform/kubernetes/resource.ts';
import type { Claim } from '../../src/platform/kubernetes/types.ts';
import type { Volume } from '../../src/sandbox/resources/volume.ts';
import type { ConditionUpdate } from '../runtime/conditions.ts';
import type { Reason } from '../runtime/reasons.ts';

/** The reaction to a deleted claim, whose files are lost. */
export type LostClaimPolicy = 'halt' | 'recreate';

export type Loss = {
  /** the PersistentVolume behind the claim */
  disk?: string | undefined;
  /** the disk that held the files before they were lost */
  lostDisk?: string | undefined;
  condition?: ConditionUpdate;
  /** why no claim may be created */
  halt?: { reason: Reason; message: string };
  /** the PersistentVolume that a new claim is bound to */
  restoreDisk?: string | undefined;
  /** the VolumeSnapshot that a new claim is restored from */
  restoreSnapshot?: string | undefined;
};

/**
 * Compares the disk of the claim with the one in the status. Deleting a claim deletes its disk, and a new claim is
 * empty, so the loss must not be hidden. `claim`: the volume's own, undefined if the API server has none.
 */
export function decideLoss(volume: Volume, claim: Claim | undefined, policy: LostClaimPolicy): Loss {
  const { disk: known, lostDisk: lostBefore } = volume.status ?? {};
  const disk = claim?.spec.volumeName;
  if (disk !== undefined && claim?.status?.phase === 'Lost') {
    const message = `Disk ${disk}, which held the files, is gone. Delete claim ${claim.metadata.name} to go on.`;
    return { disk, lostDisk: disk, condition: report('DiskLost', message, lostBefore !== disk) };
  }
  const lostDisk = known !== undefined && known !== disk ? known : lostBefore;
  if (lostDisk === undefined) return { disk, ...(claim === undefined ? pickRestore(volume) : {}) };
  if (disk !== undefined) return decideReplaced({ disk, lostDisk, claim, isNew: lostDisk !== lostBefore || !known });
  return decideGone(volume, { claim, lostDisk, isNew: lostDisk !== lostBefore }, policy);
}

type Gone = { claim: Claim | undefined; lostDisk: string; isNew: boolean };

/** There is no disk: none yet, or no claim. */
function decideGone(volume: Volume, { claim, lostDisk, isNew }: Gone, policy: LostClaimPolicy): Loss {
  const lost = `The claim was deleted, and the files on disk ${lostDisk} with it.`;
  const condition = report('ClaimDeleted', lost, isNew);
  if (claim !== undefined) return { lostDisk, condition };
  const restore = pickRestore(volume);
  if (policy === 'recreate' || restore !== undefined) return { lostDisk, condition, ...restore };
  return { lostDisk, condition, ...decideHalt(volume, lostDisk, lost) };
}

type Replacement = { disk: string; lostDisk: string; claim: Claim | undefined; isNew: boolean };

/** There is a disk again: the lost one, one restored from a snapshot, or an empty one. */
function decideReplaced({ disk, lostDisk, claim, isNew }: Replacement): Loss {
  const { kind, name } = claim?.spec.dataSource ?? {};
  if (disk === lostDisk || kind === 'VolumeSnapshot') {
    const message =
      disk === lostDisk ? `Disk ${disk} holds the files again.` : `Disk ${disk} holds the files of snapshot ${name}.`;
    return { disk, condition: { type: 'FilesLost', status: 'False', reason: 'FilesRestored', message } };
  }
  const message =
    `The claim was deleted, and the files on disk ${lostDisk} with it. ` +
    `Disk ${disk} has replaced it and was empty.`;
  // Somebody else may have replaced the claim between two observations.
  return { disk, lostDisk, condition: report('ClaimDeleted', message, isNew) };
}

/** The disk or snapshot that a volume without a claim takes over. */
function pickRestore({ metadata }: Volume): Pick<Loss, 'restoreDisk' | 'restoreSnapshot'> | undefined {
  const { [RESTORE_ANNOTATION]: restoreDisk, [RESTORE_SNAPSHOT_ANNOTATION]: restoreSnapshot } =
    metadata.annotations ?? {};
  if (restoreDisk !== undefined) return { restoreDisk };
  return restoreSnapshot === undefined ? undefined : { restoreSnapshot };
}

/** Until the loss is confirmed. */
function decideHalt({ metadata }: Volume, lostDisk: string, lost: string): Pick<Loss, 'halt'> {
  if (metadata.annotations?.[LOSS_ACCEPTED_ANNOTATION] === lostDisk) return {};
  const message =
    `${lost} No empty claim replaces it until the loss is confirmed: ` +
    `kubectl annotate volume.capstan.dev ${metadata.name} ${LOSS_ACCEPTED_ANNOTATION}=${lostDisk}`;
  return { halt: { reason: 'FilesLost', message } };
}

function report(reason: Reason, message: string, isNew: boolean): ConditionUpdate {
  return { type: 'FilesLost', status: 'True', reason, message, ...(isNew ? { touch: true } : {}) };
}

/** Files are lost and the loss is not confirmed. */
export function isLossOpen({ metadata, status }: Pick<Volume, 'metadata' | 'status'>): boolean {
  const isLost = status?.conditions?.some((one) => one.type === 'FilesLost' && one.status === 'True') === true;
  return isLost && metadata.annotations?.[LOSS_ACCEPTED_ANNOTATION] !== status.lostDisk;
}
