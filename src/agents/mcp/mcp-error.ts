/** Why a server could not be used. The message is for the model and for callers: it quotes no credential. */
export class McpServerError extends Error {
  override readonly name = 'McpServerError';
}
