export { buildClient } from './client.ts';
export type { Client } from './client.ts';
export { ApiError, CapstanError, ConnectionError } from './errors.ts';
export type { ErrorCode } from './errors.ts';
export { isLiveOnly } from './follow.ts';
export type { FollowItem, FollowOptions } from './follow.ts';
export type { CallOptions, ClientOptions, List } from './options.ts';
export type * from './generated/shapes.ts';
