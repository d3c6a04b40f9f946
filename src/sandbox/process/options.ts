import type { Logger } from '../../platform/log.ts';
import type { UidRange } from './identity.ts';
import type { LimitSettings } from './limits.ts';

export type ProcessSandboxOptions = {
  dir: string;
  network: 'none' | 'host';
  rgPath: string;
  allowUnwrapped: boolean;
  log: Logger;
  /** folders to search for bubblewrap */
  bwrapPlaces?: string[];
  idleMs?: number;
  /** one that is idle for so long, and has nothing but the state of its shells, stops; the session goes on in the next */
  suspendMs?: number;
  standbyIdleMs?: number;
  maxStandbys?: number;
  volumeWaitMs?: number;
  limits?: LimitSettings;
  /** how long a caller waits when as many sandboxes run as may */
  liveWaitMs?: number;
  /** false: limits are enforced by this process even where control groups could */
  controlGroups?: boolean;
  initialVolumeBytes?: number;
  maxVolumeBytes?: number;
  /** as root: the users that sandboxes run as, one a volume */
  uids?: UidRange | undefined;
};
