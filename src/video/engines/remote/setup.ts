import type { Egress } from '../../../platform/egress/egress.ts';

/** What every adapter is given beside its configuration. */
export type RemoteSetup = {
  /** what addresses that an engine names go through */
  egress: Egress;
  /** the first wait before a request is tried again; default 1 s */
  retryMs?: number;
};
