import { fetch as undiciFetch } from 'undici';
import type { Dispatcher } from 'undici';
import { omitUndefined } from '../records.ts';
import { buildAllowList } from './allow.ts';
import { boundBody } from './body.ts';
import { buildCheck, openDispatcher, resolveBySystem } from './dispatcher.ts';
import type { CheckHost, Resolve } from './dispatcher.ts';
import { EgressError, findEgressError } from './error.ts';
import { MAX_REDIRECTS, buildNextHop, isRedirect } from './redirect.ts';
import type { Hop } from './redirect.ts';

export type EgressInit = RequestInit & {
  /** bytes of the body after decompression, past which reading it fails; default 40 MiB */
  maxBytes?: number;
  /** from the call to the end of the body; default none */
  timeoutMs?: number;
  /** called with the error of a body that breaks off, like the reader */
  onBroken?: (error: EgressError) => void;
};

/** The only way to connect to addresses from callers: MCP servers, pages, images, webhooks, token endpoints. */
export type Egress = {
  /**
   * Like `fetch`, to http and https only. Redirects are followed by hand, each checked; across origins only headers
   * that cannot hold a credential go along. Throws an `EgressError`, or the signal's reason.
   */
  fetch(url: string | URL, init?: EgressInit): Promise<Response>;
  /** For clients that bring their own requests: connects to checked addresses only. Follows no redirect. */
  dispatcher: Dispatcher;
  /** Throws an `EgressError` when the URL may not be asked; connecting checks again. */
  check(url: string | URL): Promise<void>;
  /** For whoever connects by itself: to these addresses and no others. Throws an `EgressError`. */
  resolve: CheckHost;
  close(): Promise<void>;
};

export type EgressOptions = {
  /** CIDRs, addresses and `host:port` beyond the public internet */
  allow: readonly string[];
  /** default: the system's resolver */
  resolve?: Resolve;
};

const MAX_BYTES = 40 * 1024 * 1024;

/** Throws a `StartupError` for a bad entry of `allow`. */
export function openEgress(options: EgressOptions): Egress {
  const check = buildCheck(buildAllowList(options.allow), options.resolve ?? resolveBySystem);
  const dispatcher = openDispatcher(check);

  const send = async ({ url, init }: Hop, signal: AbortSignal | undefined): Promise<Response> => {
    const request = { ...init, redirect: 'manual', dispatcher, ...omitUndefined({ signal }) };
    return await undiciFetch(url, request as Parameters<typeof undiciFetch>[1]);
  };

  return {
    async fetch(input, { maxBytes = MAX_BYTES, timeoutMs, onBroken, ...init } = {}) {
      const url = readUrl(input);
      const timeout = timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs);
      const signals = [init.signal, timeout].filter((signal) => signal !== undefined && signal !== null);
      const signal = signals.length === 0 ? undefined : AbortSignal.any(signals);
      let hop: Hop = { url, init };
      const describe = (error: unknown) => describeError(error, hop.url, timeout);
      try {
        for (let redirects = 0; ; redirects += 1) {
          const response = await send(hop, signal);
          if (!isRedirect(response) || init.redirect === 'manual') {
            return boundBody(response, hop.url, { maxBytes, describe, onBroken });
          }
          await response.body?.cancel().catch(() => undefined);
          if (init.redirect === 'error' || redirects >= MAX_REDIRECTS) {
            throw new EgressError('too_many_redirects', `${hop.url.host} redirects too often.`);
          }
          const next = buildNextHop(hop, response);
          hop = { ...next, url: readUrl(next.url) };
        }
      } catch (error) {
        if (init.signal?.aborted === true) throw init.signal.reason;
        throw describe(error);
      }
    },
    dispatcher,
    async check(input) {
      const url = readUrl(input);
      await check(url.hostname, portOf(url));
    },
    resolve: check,
    close: () => dispatcher.destroy(),
  };
}

function readUrl(input: string | URL): URL {
  const url = URL.parse(String(input));
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new EgressError('bad_url', 'The URL must be one of http or https.');
  }
  if (url.username !== '' || url.password !== '') {
    throw new EgressError('bad_url', 'The URL must not contain credentials.');
  }
  return url;
}

function portOf(url: URL): number {
  return Number(url.port) || (url.protocol === 'https:' ? 443 : 80);
}

/** Texts of clients quote URLs and headers, so only the code of what went wrong is told. */
function describeError(error: unknown, url: URL, timeout: AbortSignal | undefined): EgressError {
  const own = findEgressError(error);
  if (own !== undefined) return own;
  if (timeout?.aborted === true) return new EgressError('timeout', `${url.host} did not answer in time.`, error);
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  if (code.includes('TIMEOUT')) return new EgressError('timeout', `${url.host} did not answer in time.`, error);
  const detail = /^[A-Z][A-Z0-9_]+$/.test(code) ? ` (${code})` : '';
  return new EgressError('unreachable', `${url.host} could not be reached${detail}.`, error);
}
