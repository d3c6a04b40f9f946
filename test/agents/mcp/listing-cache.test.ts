import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { openListingCache } from '../../../src/agents/mcp/listing-cache.ts';
import { McpServerError } from '../../../src/agents/mcp/mcp-error.ts';
import type { ServerListing } from '../../../src/agents/mcp/tools.ts';

const LISTING: ServerListing = {
  protocolVersion: '1',
  instructions: '',
  tools: [],
  hasResources: false,
  hasPrompts: false,
};
const KEY = { key: 'v1', server: 'files' };

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('a server that lists its tools late, but within ten seconds, has them in the turn', async () => {
  const cache = openListingCache(10_000);
  const { promise, resolve } = Promise.withResolvers<ServerListing>();
  const found = cache.find(KEY, () => promise);
  await vi.advanceTimersByTimeAsync(9000);
  resolve(LISTING);
  expect(await found).toEqual({ listing: LISTING });
});

it('a slow server is unavailable until it has answered', async () => {
  const cache = openListingCache(10_000);
  const { promise, resolve } = Promise.withResolvers<ServerListing>();
  const found = cache.find(KEY, () => promise);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(await found).toEqual({ unavailable: 'It did not list its tools within 10 s.' });
  resolve(LISTING);
  await vi.advanceTimersByTimeAsync(0);
  expect(await cache.find(KEY, () => promise)).toEqual({ listing: LISTING });
});

it('a server that failed is asked again by the next turn', async () => {
  const cache = openListingCache(10_000);
  const unavailable = { unavailable: 'The MCP server files answered HTTP 500.' };
  const fail = () => Promise.reject(new McpServerError(unavailable.unavailable));
  expect(await cache.find(KEY, fail)).toEqual(unavailable);
  expect(await cache.find(KEY, fail)).toEqual(unavailable);
  expect(await cache.find(KEY, () => Promise.resolve(LISTING))).toEqual({ listing: LISTING });
});

it('a server that failed and now hangs holds up a turn for a second, unless the failure is cleared', async () => {
  const cache = openListingCache(10_000);
  const reason = 'The MCP server files answered HTTP 500.';
  await cache.find(KEY, () => Promise.reject(new McpServerError(reason)));
  const { promise, resolve } = Promise.withResolvers<ServerListing>();
  const found = cache.find(KEY, () => promise);
  await vi.advanceTimersByTimeAsync(1000);
  expect(await found).toEqual({ unavailable: reason });
  cache.clearFailures('other');
  cache.clearFailures('files');
  const next = cache.find(KEY, () => promise);
  await vi.advanceTimersByTimeAsync(5000);
  resolve(LISTING);
  expect(await next).toEqual({ listing: LISTING });
});

it('a server that was too slow once is waited for briefly by the next turn', async () => {
  const cache = openListingCache(10_000);
  const never = () => new Promise<ServerListing>(() => undefined);
  const first = cache.find(KEY, never);
  await vi.advanceTimersByTimeAsync(10_000);
  await first;
  const second = cache.find(KEY, never);
  await vi.advanceTimersByTimeAsync(1000);
  expect(await second).toEqual({ unavailable: 'It did not list its tools within 10 s.' });
});

it('an unexpected failure is not quoted', async () => {
  const cache = openListingCache(10_000);
  const found = await cache.find(KEY, () => Promise.reject(new Error('secret')));
  expect(found).toEqual({ unavailable: 'It could not be asked for its tools.' });
});
