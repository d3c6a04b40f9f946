import { AsyncLocalStorage } from 'node:async_hooks';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StreamableHTTPClientTransport, StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { McpError } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { EgressError, findEgressError } from '../../platform/egress/error.ts';
import { UnsealError } from '../../platform/master-key.ts';
import { omitUndefined } from '../../platform/records.ts';
import { CapstanError } from '../../platform/errors.ts';
import type { CauseOptions } from '../../platform/errors.ts';
import { untilAborted } from '../../platform/abort.ts';
import { VERSION } from '../../platform/contract/version.ts';
import { McpServerError } from './mcp-error.ts';
import { openServerFetch } from './fetch.ts';
import type { McpServerRef, ServerFetch } from './fetch.ts';
import type { McpDeps } from './deps.ts';

/** A session with a server. */
export type Connection = {
  protocolVersion: string;
  /** how to use the server, in its own words */
  instructions: string | undefined;
  has(capability: 'tools' | 'resources' | 'prompts'): boolean;
  /** Throws `SessionGoneError` when the server has forgotten the session, else a `McpServerError`, or the signal's reason. */
  request(
    method: string,
    params: Record<string, unknown>,
    limits: { timeoutMs: number; signal?: AbortSignal | undefined },
  ): Promise<unknown>;
  close(): Promise<void>;
};

/** The server does not know our session any longer; nothing was done. */
export class SessionGoneError extends CapstanError<'session_gone'> {
  constructor(message: string, options: CauseOptions = {}) {
    super('session_gone', message, { ...options, retryable: true });
  }
}

const CONNECT_TIMEOUT_MS = 10_000;
const CLOSE_TIMEOUT_MS = 2000;
/** What a server may answer to a transport that it does not speak. */
const OTHER_TRANSPORT = new Set([400, 404, 405, 406, 415, 501]);
/** Answers are taken as they come: what servers say beside the schema must not break a call. */
const Anything = z.looseObject({});

type Link = { client: Client; transport: Transport };

/** Streamable HTTP, or else server-sent events. Throws a `McpServerError` after ten seconds at most. */
export async function openConnection(server: McpServerRef, deps: McpDeps, signal?: AbortSignal): Promise<Connection> {
  // Whose answer breaks off is known by the call that the request belongs to; the stream of a session belongs to all.
  const calls = new AsyncLocalStorage<(error: Error) => void>();
  const pending = new Set<(error: Error) => void>();
  let dead = false;
  const fetch = openServerFetch(server, deps, (method) => {
    const breakOff = calls.getStore();
    return (error) => {
      // Other ends of an answer are taken up again by the transport.
      if (breakOff !== undefined) return error.code === 'too_large' ? breakOff(error) : undefined;
      if (method !== 'GET') return;
      dead = true;
      pending.forEach((end) => end(error));
    };
  });
  const describe = (error: unknown): Error => describeError(error, server, fetch);
  const link = await connect(server, fetch, signal).catch((error: unknown) => {
    if (signal?.aborted === true) throw signal.reason;
    throw describe(error);
  });
  const { client, transport } = link;
  const capabilities = client.getServerCapabilities() ?? {};
  const protocolVersion = transport instanceof StreamableHTTPClientTransport ? transport.protocolVersion : undefined;
  return {
    protocolVersion: protocolVersion ?? 'unknown',
    instructions: client.getInstructions(),
    has: (capability) => capabilities[capability] !== undefined,
    async request(method, params, limits) {
      const { timeoutMs, signal: abort } = limits;
      if (dead) throw new SessionGoneError('The session has ended.');
      const options = { timeout: timeoutMs, maxTotalTimeout: timeoutMs, ...omitUndefined({ signal: abort }) };
      const { promise: broken, reject: breakOff } = Promise.withResolvers<never>();
      broken.catch(() => undefined);
      pending.add(breakOff);
      try {
        const asked = calls.run(breakOff, () => client.request({ method, params }, Anything, options));
        const answer = await Promise.race([asked, broken]);
        return redactDeep(answer, fetch);
      } catch (error) {
        if (abort?.aborted === true) throw abort.reason;
        if (isSessionGone(error, transport)) throw new SessionGoneError('The session has ended.');
        throw describe(error);
      } finally {
        pending.delete(breakOff);
      }
    },
    close: () => closeLink(link),
  };
}

async function connect(server: McpServerRef, fetch: ServerFetch, signal: AbortSignal | undefined): Promise<Link> {
  const url = new URL(server.url);
  const deadline = AbortSignal.timeout(CONNECT_TIMEOUT_MS);
  const bound = signal === undefined ? deadline : AbortSignal.any([deadline, signal]);
  const streamable = new StreamableHTTPClientTransport(url, { fetch: declineIdleStream(fetch) });
  try {
    return await startLink(streamable, bound);
  } catch (error) {
    const status = error instanceof StreamableHTTPError ? error.code : undefined;
    if (bound.aborted || status === undefined || !OTHER_TRANSPORT.has(status)) throw error;
    return await startLink(
      new SSEClientTransport(url, { fetch: (input, init) => fetch.fetch(input, init) }),
      bound,
    ).catch(() => {
      throw error;
    });
  }
}

async function startLink(transport: Transport, signal: AbortSignal): Promise<Link> {
  const client = new Client({ name: 'capstan', version: VERSION }, { capabilities: {} });
  const link = { client, transport };
  try {
    // Also what the client does not bound: the start of the stream and the notification that ends the handshake.
    await untilAborted(client.connect(transport, { timeout: CONNECT_TIMEOUT_MS, signal }), signal);
    return link;
  } catch (error) {
    await closeLink(link);
    throw error;
  }
}

/** A stream that only waits for news costs a connection per session; lists are read again instead. */
function declineIdleStream(fetch: ServerFetch): ServerFetch['fetch'] {
  return async (url, init) => {
    const resumes = new Headers(init?.headers).has('last-event-id');
    if ((init?.method ?? 'GET') === 'GET' && !resumes) return new Response(null, { status: 405 });
    return await fetch.fetch(url, init);
  };
}

async function closeLink({ client, transport }: Link): Promise<void> {
  if (transport instanceof StreamableHTTPClientTransport && transport.sessionId !== undefined) {
    const ended = transport.terminateSession().catch(() => undefined);
    const patience = new Promise((resolve) => setTimeout(resolve, CLOSE_TIMEOUT_MS).unref());
    await Promise.race([ended, patience]);
  }
  await client.close().catch(() => undefined);
  await transport.close().catch(() => undefined);
}

// Some servers answer 400 to a session that they do not know.
function isSessionGone(error: unknown, transport: Transport): boolean {
  if (!(error instanceof StreamableHTTPError) || transport.sessionId === undefined) return false;
  return error.code === 404 || (error.code === 400 && /session/i.test(error.message));
}

/** In words that hold nothing of headers and, but for a server's own error, nothing that it said. */
function describeError(error: unknown, { name }: McpServerRef, fetch: ServerFetch): Error {
  if (error instanceof McpServerError || error instanceof UnsealError) return error;
  const egress = error instanceof EgressError ? error : findEgressError(error);
  if (egress !== undefined) return new McpServerError(`The MCP server ${name} failed: ${egress.message}`);
  if (error instanceof StreamableHTTPError && error.code !== undefined && error.code > 0) {
    return new McpServerError(`The MCP server ${name} answered HTTP ${error.code}.`);
  }
  if (error instanceof McpError) {
    if (error.code === -32001) return new McpServerError(`The MCP server ${name} did not answer in time.`);
    return new McpServerError(`The MCP server ${name} failed: ${fetch.redact(error.message).slice(0, 2000)}`);
  }
  if (error instanceof DOMException && error.name === 'TimeoutError') {
    return new McpServerError(`The MCP server ${name} did not answer in time.`);
  }
  return new McpServerError(`The MCP server ${name} gave an answer that is not understood.`);
}

function redactDeep(value: unknown, fetch: ServerFetch): unknown {
  const text = JSON.stringify(value);
  const redacted = fetch.redact(text);
  return redacted === text ? value : (JSON.parse(redacted) as unknown);
}
