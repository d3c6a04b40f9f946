import type { Lifecycle } from '../platform/lifecycle.ts';
import type { Logger } from '../platform/log.ts';
import type { Config } from './config/config.ts';

/** The context of a role before its backends are open. */
export type BareContext = { config: Config; lifecycle: Lifecycle; log: Logger };
