// Tests: test/people/oidc.test.ts
import type { Configuration } from 'openid-client';
import type { OidcConfig } from '../../contract/oidc.ts';
import { errors } from '../../errors.ts';
import type { Claims } from './claims.ts';
import { TokenVerifier } from './tokens.ts';

const TIMEOUT_SECONDS = 10;

/** What a browser has to bring back from the identity provider. */
export type Challenge = { state: string; nonce: string; verifier: string };

/** Who signed in. `idToken` proves it to the provider at logout. */
export type SignedIn = { claims: Claims; idToken: string; issuerSession: string | undefined };

/** The identity provider of a server. It is asked when it is first needed, and may be down at start. */
export class OidcProvider {
  readonly config: OidcConfig;
  readonly tokens: TokenVerifier;
  readonly #clientSecret: string | undefined;
  #client: Promise<Configuration> | undefined;

  constructor(config: OidcConfig, clientSecret: string | undefined) {
    this.config = config;
    this.#clientSecret = clientSecret;
    this.tokens = new TokenVerifier(config, async () => {
      const { jwks_uri: url } = (await this.#discover()).serverMetadata();
      if (url === undefined) throw errors.unavailable('The identity provider publishes no keys.');
      return url;
    });
  }

  /** Where the browser goes to sign in, and what it has to bring back. Throws `unavailable`. */
  async begin(redirectUri: string): Promise<{ url: URL; challenge: Challenge }> {
    const client = await import('openid-client');
    const configuration = await this.#discover();
    const verifier = client.randomPKCECodeVerifier();
    const challenge = { state: client.randomState(), nonce: client.randomNonce(), verifier };
    const url = client.buildAuthorizationUrl(configuration, {
      redirect_uri: redirectUri,
      scope: this.config.scopes.join(' '),
      state: challenge.state,
      nonce: challenge.nonce,
      code_challenge: await client.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    });
    return { url, challenge };
  }

  /**
   * Redeems the code that the browser brought. `url` is the callback as it was asked. Throws what the client throws.
   */
  async finish(url: URL, challenge: Challenge): Promise<SignedIn> {
    const client = await import('openid-client');
    const configuration = await this.#discover();
    const answer = await client.authorizationCodeGrant(configuration, url, {
      pkceCodeVerifier: challenge.verifier,
      expectedState: challenge.state,
      expectedNonce: challenge.nonce,
      idTokenExpected: true,
    });
    const claims = answer.claims();
    if (claims === undefined || answer.id_token === undefined) throw errors.unauthorized();
    const { sid } = claims;
    return {
      claims: await this.#complete(configuration, claims, answer.access_token),
      idToken: answer.id_token,
      issuerSession: typeof sid === 'string' ? sid : undefined,
    };
  }

  /** The provider's logout URL for the browser; null if it has none. */
  async findLogoutUrl(returnTo: string, idToken: string | undefined): Promise<string | null> {
    const client = await import('openid-client');
    const configuration = await this.#discover();
    if (configuration.serverMetadata().end_session_endpoint === undefined) return null;
    return client.buildEndSessionUrl(configuration, {
      post_logout_redirect_uri: returnTo,
      ...(idToken === undefined ? {} : { id_token_hint: idToken }),
    }).href;
  }

  /** Many providers keep groups and addresses out of the ID token. */
  async #complete(
    configuration: Configuration,
    claims: Claims & { sub: string },
    accessToken: string,
  ): Promise<Claims> {
    const { groupsClaim, emailClaim, organizationClaim } = this.config;
    const wanted = [groupsClaim, emailClaim, ...(organizationClaim === undefined ? [] : [organizationClaim])];
    const isComplete = wanted.every((name) => claims[name] !== undefined);
    if (isComplete || configuration.serverMetadata().userinfo_endpoint === undefined) return claims;
    const { fetchUserInfo } = await import('openid-client');
    return { ...(await fetchUserInfo(configuration, accessToken, claims.sub)), ...claims };
  }

  #discover(): Promise<Configuration> {
    this.#client ??= this.#openClient().catch((error: unknown) => {
      this.#client = undefined;
      throw errors.unavailable('The identity provider cannot be reached.', error);
    });
    return this.#client;
  }

  async #openClient(): Promise<Configuration> {
    const client = await import('openid-client');
    const { issuer, clientId } = this.config;
    const url = new URL(issuer);
    const authentication =
      this.#clientSecret === undefined ? client.None() : client.ClientSecretBasic(this.#clientSecret);
    return client.discovery(url, clientId, undefined, authentication, {
      timeout: TIMEOUT_SECONDS,
      // An issuer on plain http is the operator's own choice, for a test.
      ...(url.protocol === 'http:' ? { execute: [client.allowInsecureRequests] } : {}),
    });
  }
}
