import { CapstanError } from '../../platform/errors.ts';
import type { CauseOptions } from '../../platform/errors.ts';

/** Why a server could not be used. The message is for the model and for callers: it quotes no credential. */
export class McpServerError extends CapstanError<'mcp_server_failed'> {
  constructor(message: string, options: CauseOptions = {}) {
    super('mcp_server_failed', message, options);
  }
}
