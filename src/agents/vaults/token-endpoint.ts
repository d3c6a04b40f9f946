import { z } from 'zod';
import type { PublicAuth } from '../contract/vaults.ts';
import type { Egress } from '../../platform/egress/egress.ts';
import type { Secrets } from './secrets.ts';

/** What a token endpoint said. `refused`: it will never accept this refresh token again. */
export type TokenAnswer =
  | { outcome: 'granted'; accessToken: string; expiresIn: number | null; refreshToken: string | undefined }
  | { outcome: 'refused' | 'unavailable'; reason: string };

type Refresh = NonNullable<Extract<PublicAuth, { type: 'mcp_oauth' }>['refresh']>;

const TIMEOUT_MS = 15_000;
const MAX_BYTES = 256 * 1024;
/** Errors that may pass by themselves. */
const TRANSIENT = new Set(['temporarily_unavailable', 'server_error', 'slow_down']);

const Granted = z.object({
  access_token: z.string().regex(/^[\x21-\x7e]{1,16384}$/),
  expires_in: z.coerce.number().positive().max(315_360_000).nullish(),
  refresh_token: z.string().min(1).max(16_384).nullish(),
});
const Refused = z.object({ error: z.string().regex(/^[\w.-]{1,60}$/) });

function encode(text: string): string {
  return new URLSearchParams({ '': text }).toString().slice(1);
}

/** RFC 6749, section 6. Never throws; `reason` holds nothing that the endpoint could have echoed. */
export async function refreshTokens(egress: Egress, refresh: Refresh, secrets: Secrets): Promise<TokenAnswer> {
  const form = new URLSearchParams({ grant_type: 'refresh_token', refresh_token: secrets.refreshToken ?? '' });
  const headers: Record<string, string> = {
    accept: 'application/json',
    'content-type': 'application/x-www-form-urlencoded',
  };
  const { type } = refresh.tokenEndpointAuth;
  if (type === 'client_secret_basic') {
    const pair = `${encode(refresh.clientId)}:${encode(secrets.clientSecret ?? '')}`;
    headers['authorization'] = `Basic ${Buffer.from(pair).toString('base64')}`;
  } else {
    form.set('client_id', refresh.clientId);
    if (type === 'client_secret_post') form.set('client_secret', secrets.clientSecret ?? '');
  }
  try {
    const response = await egress.fetch(refresh.tokenEndpoint, {
      method: 'POST',
      headers,
      body: form.toString(),
      // A token endpoint that redirects would be handed the secrets of another.
      redirect: 'error',
      maxBytes: MAX_BYTES,
      timeoutMs: TIMEOUT_MS,
    });
    const text = await response.text();
    return readAnswer(response.status, text);
  } catch {
    return { outcome: 'unavailable', reason: 'the token endpoint could not be reached' };
  }
}

function readAnswer(status: number, text: string): TokenAnswer {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    body = undefined;
  }
  const granted = Granted.safeParse(body);
  if (status >= 200 && status < 300 && granted.success) {
    const { access_token: accessToken, expires_in: expiresIn, refresh_token: refreshToken } = granted.data;
    return { outcome: 'granted', accessToken, expiresIn: expiresIn ?? null, refreshToken: refreshToken ?? undefined };
  }
  const refused = Refused.safeParse(body);
  const reason = `the token endpoint answered ${status}${refused.success ? ` ${refused.data.error}` : ''}`;
  const final = status >= 400 && status < 500 && status !== 429 && status !== 408;
  return final && refused.success && !TRANSIENT.has(refused.data.error)
    ? { outcome: 'refused', reason }
    : { outcome: 'unavailable', reason };
}
