import { statSync } from 'node:fs';
import { StartupError } from '../../platform/errors.ts';
import { SandboxError } from '../sandbox.ts';
import { findStartFailure } from './launch.ts';
import { allocateUid, chownTree } from './identity.ts';
import type { UidRange } from './identity.ts';
import { findRecord, writeRecord } from './volume-record.ts';

export type VolumeOwners = {
  /**
   * The unprivileged user that a volume's sandboxes run as; its files belong to that user from then on. Undefined where
   * this process is not root: sandboxes then run as its own user.
   */
  ownerOf(volume: string): Promise<number | undefined>;
};

/** `dir` holds the volumes. Only root can give each of them a user of its own. */
export function openVolumeOwners(dir: string, uids: UidRange): VolumeOwners {
  if (process.getuid?.() !== 0) return { ownerOf: async () => undefined };
  const settling = new Map<string, Promise<number>>();

  const settle = async (volume: string): Promise<number> => {
    const record = findRecord(volume);
    if (record === undefined) throw new SandboxError('the volume is gone');
    const uid = record.uid ?? allocateUid(dir, uids);
    // made by an older release, or restored from a backup as root
    if (statSync(volume).uid !== uid) await chownTree(volume, uid);
    // an executor of the volume may have noted its usage meanwhile
    if (record.uid === undefined) writeRecord(volume, { ...(findRecord(volume) ?? record), uid });
    return uid;
  };

  return {
    ownerOf(volume) {
      const known = settling.get(volume);
      if (known !== undefined) return known;
      const work = settle(volume).finally(() => settling.delete(volume));
      settling.set(volume, work);
      return work;
    },
  };
}

const NO_ROOT_UNWRAPPED =
  'CAPSTAN_SANDBOX_UNWRAPPED would let agents run commands as root on this machine. Start Capstan as an ordinary user, ' +
  'or install bubblewrap.';

const ROOT_REMEDY =
  'Run it as an ordinary user, or allow root to mount (CAP_SYS_ADMIN) and users to make user namespaces.';
const USER_REMEDY =
  'Let users make user namespaces: the settings user.max_user_namespaces, kernel.unprivileged_userns_clone and ' +
  'kernel.apparmor_restrict_unprivileged_userns of sysctl, in a container its seccomp profile. Or set ' +
  'CAPSTAN_SANDBOX_UNWRAPPED=i-accept-the-risk to let agents run commands as this user, without any isolation.';

/**
 * The bubblewrap to start sandboxes with; undefined: there is none, or it does not work and the operator has accepted to
 * run without. Throws `StartupError` where it does not work. As root, sandboxes run as other users or not at all.
 */
export async function chooseBubblewrap(options: {
  bwrapPath: string | undefined;
  uids: UidRange;
  allowUnwrapped: boolean;
}): Promise<string | undefined> {
  const { bwrapPath, uids, allowUnwrapped } = options;
  const isRoot = process.getuid?.() === 0;
  if (bwrapPath === undefined) {
    if (isRoot && allowUnwrapped) throw new StartupError(NO_ROOT_UNWRAPPED);
    return undefined;
  }
  const failure = await findStartFailure(bwrapPath, isRoot ? uids.first : undefined);
  if (failure === undefined) return bwrapPath;
  if (!isRoot && allowUnwrapped) return undefined;
  throw new StartupError(
    isRoot
      ? `Capstan runs as root and cannot start sandboxes as an unprivileged user here (${failure}). ${ROOT_REMEDY}`
      : `Capstan cannot start sandboxes here (${failure}). ${USER_REMEDY}`,
  );
}
