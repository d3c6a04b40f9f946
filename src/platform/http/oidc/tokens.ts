import type { JWTPayload, JWTVerifyGetKey } from 'jose';
import type { OidcConfig } from '../../contract/oidc.ts';
import { errors } from '../../errors.ts';
import { isRecord } from '../../records.ts';

const LOGOUT_EVENT = 'http://schemas.openid.net/event/backchannel-logout';
/** Allowed clock difference between the identity provider and this server, in seconds. */
const CLOCK_SECONDS = 30;
/** Keys are refetched after the first interval, and for an unknown key id at most once per second interval. */
const KEYS_MAX_AGE_MS = 10 * 60_000;
const KEYS_COOLDOWN_MS = 5000;
const KEYS_TIMEOUT_MS = 5000;
const MAX_TOKEN_LENGTH = 16_384;

/** Whether a bearer token looks like a JWT. No key that this server makes does. */
export function isJwt(text: string): boolean {
  return text.length <= MAX_TOKEN_LENGTH && text.startsWith('eyJ') && text.split('.').length === 3;
}

type Fault = { code?: unknown };

/** A token that is at fault, rather than the way to the keys. */
function isBadToken(error: unknown): boolean {
  const { code } = error as Fault;
  return typeof code === 'string' && /^ERR_(JWT|JWS|JOSE|JWKS_NO_MATCHING_KEY|JWKS_MULTIPLE)/.test(code);
}

/** Verifies tokens of one issuer against its published keys. */
export class TokenVerifier {
  readonly #config: OidcConfig;
  readonly #findKeysUrl: () => Promise<string>;
  #keys: Promise<JWTVerifyGetKey> | undefined;

  constructor(config: OidcConfig, findKeysUrl: () => Promise<string>) {
    this.#config = config;
    this.#findKeysUrl = findKeysUrl;
  }

  /** The claims of an access token for this server; undefined for any other token. Throws `unavailable`. */
  async verifyAccessToken(token: string): Promise<JWTPayload | undefined> {
    const { audience, clientId } = this.#config;
    const claims = await this.#verify(token, audience ?? clientId);
    // An ID token tells the client who signed in. It opens nothing, though it may have the same audience.
    const isOther = ['nonce', 'at_hash', 'c_hash', 'events'].some((name) => claims?.[name] !== undefined);
    return isOther || claims?.['typ'] === 'ID' ? undefined : claims;
  }

  /** Whom a logout token signs out; undefined for any other token. Throws `unavailable`. */
  async verifyLogoutToken(token: string): Promise<{ externalId: string } | { issuerSession: string } | undefined> {
    const claims = await this.#verify(token, this.#config.clientId);
    if (claims === undefined || claims['nonce'] !== undefined) return undefined;
    const { events, sub, sid } = claims;
    if (!isRecord(events) || !isRecord(events[LOGOUT_EVENT])) return undefined;
    if (typeof sid === 'string') return { issuerSession: sid };
    return typeof sub === 'string' ? { externalId: sub } : undefined;
  }

  async #verify(token: string, audience: string): Promise<JWTPayload | undefined> {
    const { jwtVerify } = await import('jose');
    try {
      const { payload } = await jwtVerify(token, await this.#loadKeys(), {
        issuer: this.#config.issuer,
        audience,
        clockTolerance: CLOCK_SECONDS,
        requiredClaims: ['exp'],
      });
      return payload;
    } catch (error) {
      if (isBadToken(error)) return undefined;
      throw errors.unavailable('The identity provider cannot be reached.', error);
    }
  }

  #loadKeys(): Promise<JWTVerifyGetKey> {
    this.#keys ??= this.#openKeys().catch((error: unknown) => {
      this.#keys = undefined;
      throw error;
    });
    return this.#keys;
  }

  async #openKeys(): Promise<JWTVerifyGetKey> {
    const { createRemoteJWKSet } = await import('jose');
    return createRemoteJWKSet(new URL(await this.#findKeysUrl()), {
      cacheMaxAge: KEYS_MAX_AGE_MS,
      cooldownDuration: KEYS_COOLDOWN_MS,
      timeoutDuration: KEYS_TIMEOUT_MS,
    });
  }
}
