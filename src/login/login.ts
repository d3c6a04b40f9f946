import type { Egress } from '../platform/egress/egress.ts';
import type { PasskeyUse } from './browser/passkeys.ts';
import type { HelpScope, LoginMethod } from './contract/shapes.ts';
import type { Fleet, BrowserSlot } from './browser/fleet.ts';
import type { ReadForm } from './form-reader.ts';
import type { IdentityProvider } from './identity-providers.ts';
import { LoginError } from './login-error.ts';
import type { AnswerSource, PageAnswers } from './flow/challenge.ts';
import { collectSession, isEmpty } from './flow/collect.ts';
import type { CollectedSession } from './flow/collect.ts';
import type { Values } from './flow/fill.ts';
import { buildEmptySessionError } from './flow/errors.ts';
import { runFlow } from './flow/run.ts';
import type { NamedProof } from './flow/session-check.ts';
import type { Recorder } from './recorder.ts';
import type { Site } from './site.ts';
import { withSite } from './open-site.ts';

export type LoginInput = Values & {
  organizationId: string;
  /** all pages that the login may use */
  site: Site;
  /** another service on whose pages the credentials are typed, and the pages of the site alone */
  provider?: IdentityProvider;
  ownSite?: Site;
  method: LoginMethod;
  /** which pages wait for a person instead of failing; absent: none */
  help?: HelpScope | undefined;
  /** for pages that ask for a passkey or a security key */
  passkeys?: PasskeyUse | undefined;
  /** the caller's proof of a successful login */
  proof?: NamedProof;
};

export type LoginPorts = {
  fleet: Fleet;
  /** to compare the site's answers with and without the session */
  egress?: Egress | undefined;
  answers: AnswerSource;
  signal: AbortSignal;
  /** records observations and actions, and shows the live page */
  recorder?: Recorder | undefined;
  /** for pages on which detection finds no login or several; absent: such pages fail */
  readForm?: ReadForm | undefined;
};

/** Binds the answers to a page. Its slot is released while a person is asked. */
export function bindAnswers(source: AnswerSource, slot: BrowserSlot): PageAnswers {
  return {
    available: source.available,
    ready: () => source.ready(),
    get: (ask, wrong, moved) => source.get(ask, wrong, { release: (work) => slot.releaseWhile(work), moved }),
  };
}

const isText = (value: unknown): value is string => typeof value === 'string';

/** Signs in and collects the session. Throws a `LoginError`, or the signal's reason. */
export async function logIn(input: LoginInput, ports: LoginPorts): Promise<CollectedSession> {
  const byForm = await withSite(ports, input, {}, async (opened) => {
    if (opened.requiresHttpAuth) return undefined;
    const { slot, traffic, observer, visited, authenticator } = opened;
    const { readForm, signal, recorder } = ports;
    const secrets = [input.username, input.password, ...Object.values(input.fields)].filter(isText);
    recorder?.attach(slot.context);
    const flow = runFlow(input, {
      signal,
      answers: bindAnswers(ports.answers, slot),
      context: slot.context,
      egress: ports.egress,
      openStranger: () => slot.openStranger(),
      recorder,
      traffic,
      observer,
      authenticator,
      readForm: readForm && ((observation) => readForm(observation, secrets, signal)),
    });
    const { url, signals } = await flow.finally(async () => {
      recorder?.attach(undefined);
      await authenticator?.settled();
    });
    const session = await collectSession(slot.context, input.ownSite ?? input.site, visited, url);
    if (isEmpty(session) && !traffic.usedHttpAuthentication) throw buildEmptySessionError();
    return { ...session, userAgent: slot.userAgent, signs: signals };
  });
  if (byForm === undefined && input.provider !== undefined) {
    throw new LoginError('login_form_not_found', 'The site asks for HTTP authentication.', {
      details: { reason: 'http_authentication' },
    });
  }
  return byForm ?? logInByHttp(input, ports);
}

/** HTTP Basic and Digest: the browser answers the challenge, once. */
function logInByHttp(input: LoginInput, ports: LoginPorts): Promise<CollectedSession> {
  const { username = '', password = '', site } = input;
  const httpCredentials = { username, password, origin: site.url.origin, send: 'unauthorized' as const };
  return withSite(ports, input, { httpCredentials }, async ({ slot, first, visited, requiresHttpAuth }) => {
    const status = first?.status() ?? 0;
    const url = first?.url() ?? site.url.href;
    if (requiresHttpAuth || status === 401 || status === 403) {
      throw new LoginError('invalid_credentials', 'The site refused the credentials.', {
        details: { reason: 'http_authentication' },
      });
    }
    if (status >= 500) {
      throw new LoginError('site_unreachable', 'The site answered with an error.', { details: { status } });
    }
    const session = await collectSession(slot.context, site, visited, url);
    const described = { userAgent: slot.userAgent, signs: ['http-authentication' as const] };
    return { ...session, ...described, origins: [...new Set([new URL(url).origin, ...session.origins])] };
  });
}
