// Tests: test/login/providers.test.ts
import type { ElementDescription } from '../detection/description.ts';
import { findObstacles } from '../detection/obstacles.ts';
import { findProviderButton } from '../detection/other-methods.ts';
import type { PageStep } from './decide.ts';
import type { PageDecision, withModelFallback } from './model-fallback.ts';
import type { ObservedPage } from './page-observer.ts';
import type { FlowInput } from './ports.ts';

type Decide = ReturnType<typeof withModelFallback>;
type Context = Parameters<Decide>[1];

const MAX_OPENED = 5;
/** ms without a change before the button is pressed, so that it is not pressed twice */
const IDLE_MS = 300;
/** ms that the page gets to show its button */
const PATIENCE_MS = 5000;

/** ms that a window gets to show the provider */
const OPENING_MS = 8000;

const WAIT: PageStep = { do: 'wait' };

/** Whether the page is one of the site itself, where nothing is typed that belongs to the provider. */
function isOwnPage({ provider, ownSite }: FlowInput, url: string): boolean {
  return provider !== undefined && !provider.site.allows(url) && ownSite?.allows(url) === true;
}

/** Whether the page belongs to the identity provider, or to somebody on the way: no session of the site is proven there. */
export function isAwayFromSite({ provider, ownSite }: FlowInput, url: string): boolean {
  return provider !== undefined && (provider.site.allows(url) || ownSite?.allows(url) !== true);
}

/** The page that asks strangers to sign in: with a provider, the one that the login began on. */
export function findStart({ provider, ownSite, site }: FlowInput, url: string): string {
  return provider === undefined ? url : (ownSite ?? site).url.href;
}

function press(observed: ObservedPage, button: ElementDescription): PageStep {
  const frame = observed.observation.frames.find(({ elements }) => elements.includes(button));
  const dismiss = frame && findObstacles(frame, [button.id]).find((each) => each.dismiss !== undefined)?.dismiss;
  return dismiss === undefined ? { do: 'open', id: button.id } : { do: 'dismiss', id: dismiss };
}

function decideOwnPage(observed: ObservedPage, input: FlowInput, { progress, idle }: Context): PageStep {
  // The site has sent the user back without a session.
  if (progress.passwordSent) {
    return idle.unchangedMs < PATIENCE_MS ? WAIT : { do: 'fail', code: 'invalid_credentials', reason: 'asked_again' };
  }
  if (idle.unchangedMs < IDLE_MS || idle.networkIdleMs < IDLE_MS) return WAIT;
  const button = input.provider && findProviderButton(observed.observation.frames, input.provider);
  if (button !== undefined && progress.opened < MAX_OPENED) return press(observed, button);
  const link = observed.plan.loginLinks.find(({ kind }) => kind === 'sign-in');
  if (link !== undefined && observed.plan.reason !== 'fill' && progress.opened < MAX_OPENED) {
    return { do: 'open', id: link.id };
  }
  if (idle.unchangedMs < PATIENCE_MS) return WAIT;
  return { do: 'fail', code: 'login_form_not_found', reason: 'no_provider_button' };
}

/** Decides on the site's own pages how to get to the identity provider; on the provider's pages `decide` does. */
export function withProvider(decide: Decide, input: FlowInput): Decide {
  /** what was pressed last: a button may open a window, which leaves the page as it is */
  let pressed: { document: string; at: number } | undefined;
  return async (observed, context): Promise<PageDecision> => {
    if (!isOwnPage(input, observed.url)) return decide(observed, context);
    const isOpening = pressed?.document === observed.document && performance.now() - pressed.at < OPENING_MS;
    const step = isOpening ? WAIT : decideOwnPage(observed, input, context);
    if (step.do === 'open') pressed = { document: observed.document, at: performance.now() };
    return { step, observed };
  };
}
