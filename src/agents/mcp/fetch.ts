import type { EgressError } from '../../platform/egress/error.ts';
import type { Egress } from '../../platform/egress/egress.ts';
import type { UsedToken, Vaults } from '../vaults/resolve.ts';
import { traceHeaders } from '../../platform/work-context.ts';
import { McpServerError } from './mcp-error.ts';

/** One agent's way to one server. */
export type McpServerRef = { agentId: string; name: string; url: string };

export type ServerFetch = {
  fetch(url: string | URL, init?: RequestInit): Promise<Response>;
  /** Blots out every token that was sent, wherever a server repeats it. */
  redact(text: string): string;
};

/** Bytes of one answer, after decompression. */
const MAX_BYTES = 5 * 1024 * 1024;
/** Bytes of a stream that carries the answers of a whole session. */
const MAX_STREAM_BYTES = 64 * 1024 * 1024;
const SHORTEST_REDACTED = 6;

/**
 * Requests through the guard, each with the credential that the agent's vaults hold for the server at that moment. One
 * that the server refuses is renewed and tried once more. `watch` gives, as a request begins, who hears when its answer breaks
 * off.
 */
export function openServerFetch(
  server: McpServerRef,
  { egress, vaults }: { egress: Egress; vaults: Vaults },
  watch: (method: string) => (error: EgressError) => void,
): ServerFetch {
  const sent = new Set<string>();
  const origin = new URL(server.url).origin;

  const send = (
    url: string | URL,
    init: RequestInit,
    used: UsedToken | undefined,
    onBroken: (error: EgressError) => void,
  ): Promise<Response> => {
    const headers = new Headers(init.headers);
    for (const [name, value] of Object.entries(traceHeaders())) headers.set(name, value);
    if (used !== undefined && new URL(url).origin === origin) {
      sent.add(used.token);
      headers.set('authorization', `Bearer ${used.token}`);
    }
    return egress.fetch(url, { ...init, headers, maxBytes: isStream(init) ? MAX_STREAM_BYTES : MAX_BYTES, onBroken });
  };

  return {
    async fetch(url, init = {}) {
      const onBroken = watch(init.method ?? 'GET');
      const { status, used } = await vaults.resolve(server.agentId, server.url);
      if (status === 'reconnect')
        throw new McpServerError('The credential of this server has to be renewed by its owner.');
      if (used === undefined && status === 'unavailable') {
        throw new McpServerError('The credential of this server cannot be refreshed at the moment.');
      }
      const response = await send(url, init, used, onBroken);
      if (response.status !== 401 || used === undefined) return response;
      const renewed = await vaults.resolve(server.agentId, server.url, used);
      if (renewed.used === undefined) return response;
      await response.body?.cancel().catch(() => undefined);
      return await send(url, init, renewed.used, onBroken);
    },
    redact(text) {
      let redacted = text;
      for (const token of sent) {
        if (token.length < SHORTEST_REDACTED) continue;
        redacted = redacted
          .replaceAll(token, '[redacted]')
          .replaceAll(JSON.stringify(token).slice(1, -1), '[redacted]');
      }
      return redacted;
    },
  };
}

function isStream(init: RequestInit): boolean {
  return (init.method ?? 'GET') === 'GET';
}
