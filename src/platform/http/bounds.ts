/** What one process grants to callers, so that none of them takes it away from the others. */
export type Bounds = {
  /** event streams that one key may hold open */
  streamsPerKey: number;
  /** connections in all; further ones are closed unanswered */
  connections: number;
  /** connections of one address without an accepted key and without a request under way; the oldest are closed first */
  idleConnectionsPerAddress: number;
  /** unknown keys that one address may send in a minute */
  unknownKeysPerMinute: number;
};

export const DEFAULT_BOUNDS: Bounds = {
  streamsPerKey: 2000,
  connections: 10_000,
  idleConnectionsPerAddress: 256,
  unknownKeysPerMinute: 600,
};
