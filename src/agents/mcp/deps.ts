import type { Egress } from '../../platform/egress/egress.ts';
import type { Logger } from '../../platform/log.ts';
import type { Vaults } from '../vaults/resolve.ts';

/** What connections to MCP servers need. */
export type McpDeps = { egress: Egress; vaults: Vaults; log: Logger };
