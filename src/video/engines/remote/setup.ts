import type { Egress } from '../../../platform/egress/egress.ts';

/** What every adapter gets besides its configuration. */
export type RemoteSetup = {
  /** fetches URLs from an engine */
  egress: Egress;
  /** the first wait before a retry; default 1 s */
  retryMs?: number;
};
