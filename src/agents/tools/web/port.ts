/** The web, as far as callers may steer there. A fault is in words for the model; only the signal's reason is thrown. */
export type WebPort = {
  search(
    query: string,
    limit: number,
    signal: AbortSignal,
  ): Promise<{ results: { title: string; url: string; description: string }[] } | { fault: string }>;
  /** What stands at an address, as text; `refused` tells of an address that may not be asked. */
  readPage(
    url: string,
    signal: AbortSignal,
  ): Promise<{ title: string; text: string } | { fault: string; refused: boolean }>;
};
