// Tests: test/cluster/operator-backup.test.ts
import { LABELS } from '../../src/platform/kubernetes/resource.ts';
import { hasStatus } from '../../src/platform/kubernetes/client.ts';
import { buildListPath, buildPath } from '../../src/platform/kubernetes/paths.ts';
import type { Claim } from '../../src/platform/kubernetes/types.ts';
import { errorText } from '../../src/platform/errors.ts';
import { omitUndefined } from '../../src/platform/records.ts';
import type { Volume, VolumeStatus } from '../../src/sandbox/resources/volume.ts';
import { buildOwner } from '../pod/build.ts';
import { measureElapsed } from '../runtime/clock.ts';
import type { ConditionUpdate } from '../runtime/conditions.ts';
import type { Controller } from '../runtime/controller.ts';
import { describeRefusal } from '../runtime/refusals.ts';
import type { Reason } from '../runtime/reasons.ts';
import type { BackupPolicy } from './backup-policy.ts';

type Snapshot = {
  metadata: { name: string; creationTimestamp?: string; uid: string; resourceVersion: string; namespace: string };
  status?: { readyToUse?: boolean; restoreSize?: string; error?: { message?: string } };
};

export type BackupOutcome = {
  status: Pick<VolumeStatus, 'lastBackup' | 'pendingBackup'>;
  condition?: ConditionUpdate;
  requeueMs?: number;
};

const MAX_RUNNING = 16;
const [POLL_MS, MAX_POLL_MS, BUSY_MS, RETRY_MS] = [1000, 30_000, 5000, 60_000];
/** A snapshot that reports an error for this long is given up. */
const GIVE_UP_MS = 10 * 60_000;
const MISSING_MS = 10 * 60_000;

/** Starts a snapshot when one is due, and follows it until it is ready. What the API server refuses is a condition. */
export async function backUp(
  controller: Controller,
  target: { volume: Volume; claim: Claim | undefined },
  policy: BackupPolicy | undefined,
  now: Date,
): Promise<BackupOutcome> {
  try {
    return await advance(controller, target, policy, now);
  } catch (error) {
    const refusal = describeRefusal(error, 'SnapshotRefused');
    if (refusal === undefined) throw error;
    const { lastBackup, pendingBackup } = target.volume.status ?? {};
    const condition = report(false, refusal.reason, refusal.message);
    return { status: omitUndefined({ lastBackup, pendingBackup }), condition, requeueMs: RETRY_MS };
  }
}

async function advance(
  controller: Controller,
  { volume, claim }: { volume: Volume; claim: Claim | undefined },
  policy: BackupPolicy | undefined,
  now: Date,
): Promise<BackupOutcome> {
  const { backups } = controller;
  const { metadata, status: known } = volume;
  const status = omitUndefined({ lastBackup: known?.lastBackup, pendingBackup: known?.pendingBackup });
  if (policy === undefined || metadata.deletionTimestamp !== undefined) {
    backups.running.delete(metadata.name);
    return policy === undefined ? reportOff(volume) : { status };
  }
  if (status.pendingBackup !== undefined) return follow(controller, volume, policy, now);
  const since = status.lastBackup?.at ?? metadata.creationTimestamp ?? now.toISOString();
  const dueInMs = policy.everyMs - measureElapsed(since, now);
  if (dueInMs > 0) return { status, requeueMs: dueInMs };
  if (!isUsable(claim)) return { status };
  if (backups.missingUntilMs > now.getTime()) return reportMissing(status);
  return backups.running.size < MAX_RUNNING
    ? start(controller, { volume, claim }, policy, now)
    : { status, requeueMs: BUSY_MS };
}

function isUsable(claim: Claim | undefined): claim is Claim {
  return claim?.status?.phase === 'Bound' && claim.metadata.deletionTimestamp === undefined;
}

function report(isDone: boolean, reason: Reason, message: string): ConditionUpdate {
  return { type: 'BackedUp', status: isDone ? 'True' : 'False', reason, message };
}

function reportMissing(status: BackupOutcome['status']): BackupOutcome {
  const message = 'The cluster has no VolumeSnapshots: its definitions and the snapshot controller are not installed.';
  return { status, condition: report(false, 'SnapshotsMissing', message), requeueMs: MISSING_MS };
}

/** A volume that has never had backups says nothing about them. */
function reportOff({ status: known }: Volume): BackupOutcome {
  const last = known?.lastBackup;
  const status = omitUndefined({ lastBackup: last });
  if (known?.conditions?.some(({ type }) => type === 'BackedUp') !== true) return { status };
  const held = last === undefined ? '' : ` VolumeSnapshot ${last.snapshot} holds the files of ${last.at}.`;
  const message = `Backups are turned off.${held}`;
  return { status, condition: { type: 'BackedUp', status: 'Unknown', reason: 'BackupsOff', message } };
}

async function start(
  controller: Controller,
  { volume, claim }: { volume: Volume; claim: Claim },
  policy: BackupPolicy,
  now: Date,
): Promise<BackupOutcome> {
  const { writer, backups } = controller;
  const { name, namespace, uid } = volume.metadata;
  const status = omitUndefined({ lastBackup: volume.status?.lastBackup });
  const at = now.toISOString().replace(/\.\d+Z$/, 'Z');
  const snapshot = `${name}-${at.replaceAll(/[^0-9]/g, '')}`;
  const labels = { [LABELS.managedBy]: 'capstan-operator', [LABELS.volume]: name, [LABELS.volumeUid]: uid };
  try {
    await writer.create('volumesnapshots', {
      apiVersion: 'snapshot.storage.k8s.io/v1',
      kind: 'VolumeSnapshot',
      metadata: { name: snapshot, namespace, labels, ownerReferences: [buildOwner('Volume', volume.metadata)] },
      spec: {
        source: { persistentVolumeClaimName: claim.metadata.name },
        ...omitUndefined({ volumeSnapshotClassName: policy.snapshotClassName }),
      },
    } as object & { metadata: { name: string } });
  } catch (error) {
    if (hasStatus(error, 404)) {
      backups.missingUntilMs = now.getTime() + MISSING_MS;
      return reportMissing(status);
    }
    throw error;
  }
  backups.running.add(name);
  return { status: { ...status, pendingBackup: { snapshot, at } }, requeueMs: POLL_MS };
}

async function follow(controller: Controller, volume: Volume, policy: BackupPolicy, now: Date): Promise<BackupOutcome> {
  const { backups, writer } = controller;
  const { name } = volume.metadata;
  const { lastBackup, pendingBackup } = volume.status ?? {};
  const status = omitUndefined({ lastBackup, pendingBackup });
  if (pendingBackup === undefined) return { status };
  backups.running.add(name);
  const snapshot = await findSnapshot(controller, pendingBackup.snapshot);
  const ageMs = measureElapsed(pendingBackup.at, now);
  const failure = snapshot === undefined ? 'it was deleted before it was ready' : snapshot.status?.error?.message;
  if (snapshot?.status?.readyToUse === true) {
    backups.running.delete(name);
    await prune(controller, name, policy.keep);
    const message = `VolumeSnapshot ${pendingBackup.snapshot} holds the files of ${pendingBackup.at}.`;
    return { status: { lastBackup: pendingBackup }, condition: report(true, 'SnapshotReady', message), requeueMs: 1 };
  }
  const pollMs = Math.min(MAX_POLL_MS, Math.max(POLL_MS, ageMs));
  if (failure === undefined) return { status, requeueMs: pollMs };
  const condition = report(false, 'SnapshotFailed', `VolumeSnapshot ${pendingBackup.snapshot} failed: ${failure}`);
  if (snapshot !== undefined && ageMs < GIVE_UP_MS) return { status, condition, requeueMs: pollMs };
  backups.running.delete(name);
  if (snapshot !== undefined) await writer.remove('volumesnapshots', snapshot);
  return { status: omitUndefined({ lastBackup }), condition, requeueMs: RETRY_MS };
}

/** Deletes the oldest snapshots of the volume that are ready, so that `keep` remain. */
async function prune({ kubernetes, namespace, writer }: Controller, volume: string, keep: number): Promise<void> {
  const path = buildListPath(namespace, 'volumesnapshots');
  const query = { labelSelector: `${LABELS.managedBy}=capstan-operator,${LABELS.volume}=${volume}`, limit: '500' };
  const { items } = await kubernetes.request<{ items: Snapshot[] }>({ method: 'GET', path, query });
  const ready = items.filter(({ status }) => status?.readyToUse === true);
  // Their names end in the time.
  ready.sort((left, right) => right.metadata.name.localeCompare(left.metadata.name));
  for (const old of ready.slice(keep)) await writer.remove('volumesnapshots', old);
}

async function findSnapshot({ kubernetes, namespace }: Controller, name: string): Promise<Snapshot | undefined> {
  try {
    return await kubernetes.request<Snapshot>({ method: 'GET', path: buildPath(namespace, 'volumesnapshots', name) });
  } catch (error) {
    if (hasStatus(error, 404)) return undefined;
    throw error;
  }
}

/** What a claim is restored from: the bytes that it needs, or why it cannot be. */
export async function findRestorable(
  controller: Controller,
  name: string,
): Promise<{ restoreSize: string | undefined } | { refusal: { reason: Reason; message: string } }> {
  let snapshot: Snapshot | undefined;
  try {
    snapshot = await findSnapshot(controller, name);
  } catch (error) {
    const refusal = describeRefusal(error, 'SnapshotRefused');
    if (refusal !== undefined) return { refusal };
    throw new Error(`VolumeSnapshot ${name} could not be read: ${errorText(error)}`, { cause: error });
  }
  if (snapshot?.status?.readyToUse === true) return { restoreSize: snapshot.status.restoreSize };
  const message =
    snapshot === undefined
      ? `There is no VolumeSnapshot ${name} in this namespace.`
      : `VolumeSnapshot ${name} is not ready to use.`;
  return { refusal: { reason: 'SnapshotNotFound', message } };
}
