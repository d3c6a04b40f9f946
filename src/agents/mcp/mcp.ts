import type { McpOperation } from '../contract/mcp.ts';
import { errorText } from '../../platform/errors.ts';
import { UnsealError } from '../../platform/master-key.ts';
import { untilAborted } from '../../platform/abort.ts';
import { traceHeaders } from '../../platform/work-context.ts';
import type { Connection } from './connection.ts';
import { McpServerError } from './mcp-error.ts';
import type { McpDeps } from './deps.ts';
import type { McpServerRef } from './fetch.ts';
import { openListingCache } from './listing-cache.ts';
import type { ListingResult } from './listing-cache.ts';
import { failCall, readCallResult, readPlain, readResource } from './results.ts';
import type { McpOutcome } from './results.ts';
import { openConnectionPool } from './connection-pool.ts';
import { readTools } from './tools.ts';
import type { ServerListing } from './tools.ts';

export type McpCall = {
  server: McpServerRef;
  /** calls of one scope share the server's session */
  scope: string;
  operation: McpOperation;
  tool: string;
  input: Record<string, unknown>;
  signal: AbortSignal;
};

/** Characters of a server's instructions that the model reads. */
const MAX_INSTRUCTIONS = 4000;

/** The MCP servers of agents: the only place that speaks their protocol. */
export type Mcp = {
  /** What a server offers, from a cache under `version` (of the agent and its credential), or why it is unavailable. */
  findListing(version: string, server: McpServerRef): Promise<ListingResult>;
  /** Forgets that listing the server failed: it has answered since. */
  clearFailures(server: Pick<McpServerRef, 'agentId' | 'url'>): void;
  /** Asks now. Throws a `McpServerError` or an `UnsealError`. */
  readListing(server: McpServerRef): Promise<ServerListing>;
  /** Always returns an outcome; throws only the signal's reason. */
  call(call: McpCall): Promise<McpOutcome>;
  close(): Promise<void>;
};

const LIST_TIMEOUT_MS = 10_000;
const MAX_PAGES = 20;

/** The protocol's library takes a while to load, and most processes need it late or never. */
async function connect(server: McpServerRef, deps: McpDeps): Promise<Connection> {
  const { openConnection } = await import('./connection.ts');
  return await openConnection(server, deps);
}

export function openMcp(deps: McpDeps, options: { callTimeoutMs: number; listTimeoutMs?: number }): Mcp {
  const pool = openConnectionPool();
  const listings = openListingCache(options.listTimeoutMs ?? LIST_TIMEOUT_MS);

  const readListing = async (server: McpServerRef): Promise<ServerListing> => {
    const connection = await connect(server, deps);
    try {
      return {
        protocolVersion: connection.protocolVersion,
        instructions: (connection.instructions ?? '').trim().slice(0, MAX_INSTRUCTIONS),
        tools: connection.has('tools') ? readTools(await readPages(connection)) : [],
        hasResources: connection.has('resources'),
        hasPrompts: connection.has('prompts'),
      };
    } finally {
      void connection.close();
    }
  };

  const ask = async (call: McpCall, isRetry: boolean): Promise<unknown> => {
    const { server, signal } = call;
    const key = [call.scope, server.agentId, server.name, server.url].join('\0');
    // The connection is shared: an interrupt of one call must not close it.
    const connection = await untilAborted(
      pool.take(key, () => connect(server, deps)),
      signal,
    );
    const [method, params] = buildRequest(call);
    try {
      const answer = await connection.request(
        method,
        { ...params, ...buildMeta() },
        { timeoutMs: options.callTimeoutMs, signal },
      );
      if (call.operation !== 'list_resources' || call.input['cursor'] !== undefined) return answer;
      const templates = await connection
        .request('resources/templates/list', {}, { timeoutMs: LIST_TIMEOUT_MS, signal })
        .catch(() => ({}));
      return { ...(answer as object), ...(templates as object) };
    } catch (error) {
      if (!(error instanceof McpServerError) || isRetry) pool.drop(key, connection);
      if (error instanceof Error && error.name === 'SessionGoneError' && !isRetry) return await ask(call, true);
      throw error;
    }
  };

  return {
    readListing,
    findListing(version, server) {
      const load = async () => {
        try {
          return await readListing(server);
        } catch (error) {
          deps.log.warn(
            { agentId: server.agentId, server: server.name, error: errorText(error) },
            'an MCP server did not list its tools',
          );
          throw error;
        }
      };
      const key = [version, server.name, server.url].join('\0');
      return listings.find({ key, server: identifyServer(server) }, load);
    },
    clearFailures: (server) => listings.clearFailures(identifyServer(server)),
    async call(call) {
      try {
        const answer = await ask(call, false);
        if (call.operation === 'tool') return readCallResult(answer);
        return call.operation === 'read_resource' ? readResource(answer) : readPlain(answer);
      } catch (error) {
        if (call.signal.aborted) throw call.signal.reason;
        if (error instanceof McpServerError) return failCall(error.message);
        deps.log.warn({ server: call.server.name, error: errorText(error) }, 'an MCP call failed');
        const unsealed = error instanceof UnsealError;
        return failCall(unsealed ? 'The credential cannot be unsealed.' : `The MCP server ${call.server.name} failed.`);
      }
    },
    close: () => pool.close(),
  };
}

function identifyServer({ agentId, url }: Pick<McpServerRef, 'agentId' | 'url'>): string {
  return `${agentId}\0${url}`;
}

async function readPages(connection: Connection): Promise<unknown[]> {
  const pages: unknown[] = [];
  let cursor: unknown;
  do {
    const params = typeof cursor === 'string' ? { cursor } : {};
    const page = await connection.request('tools/list', params, { timeoutMs: LIST_TIMEOUT_MS });
    pages.push(page);
    cursor = (page as { nextCursor?: unknown }).nextCursor;
  } while (typeof cursor === 'string' && pages.length < MAX_PAGES);
  return pages;
}

/** Servers find the caller's span in the message too, whatever transport brings it. */
function buildMeta(): { _meta?: Readonly<Record<string, string>> } {
  const headers = traceHeaders();
  return Object.keys(headers).length === 0 ? {} : { _meta: headers };
}

function buildRequest({ operation, tool, input }: McpCall): [method: string, params: Record<string, unknown>] {
  const cursor = typeof input['cursor'] === 'string' ? { cursor: input['cursor'] } : {};
  switch (operation) {
    case 'tool':
      return ['tools/call', { name: tool, arguments: input }];
    case 'list_resources':
      return ['resources/list', cursor];
    case 'read_resource':
      return ['resources/read', { uri: input['uri'] }];
    case 'list_prompts':
      return ['prompts/list', cursor];
    case 'get_prompt':
      return ['prompts/get', { name: input['name'], arguments: input['arguments'] ?? {} }];
  }
}
