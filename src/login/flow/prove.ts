import { looksLikeStep } from '../detection/interstitials.ts';
import type { Site } from '../site.ts';
import type { SubmitView } from './after-submit.ts';
import { asksStrangersOnly } from './compare-pages.ts';
import type { SuccessSignal } from './evidence.ts';
import type { ObservedPage } from './page-observer.ts';
import type { FlowInput, FlowPorts } from './ports.ts';
import { checkSession, findMemberDifference, findNamedProof, offersSignIn } from './session-check.ts';
import type { SessionState } from './session-check.ts';
import type { FlowState, Submitted } from './state.ts';

const IDLE_MS = 60;

/** Whether the page is the caller's proof of success, and not the page of the form itself. */
export async function isNamedPage(
  { proof, site }: Pick<FlowInput, 'proof' | 'site'>,
  observed: ObservedPage,
  { submitted: { before, step }, view }: { submitted: Submitted; view: SubmitView },
): Promise<boolean> {
  if (proof === undefined || step === 'username' || view.verdict.is === 'failed') return false;
  const hasMoved = observed.document !== before.document || observed.url !== before.url;
  if (view.network.idleMs < IDLE_MS || (!hasMoved && proof.successSelector === undefined)) return false;
  return (await findNamedProof(observed, site, proof)) === true;
}

type Attempted = {
  state: FlowState;
  submitted: Submitted;
  signals: readonly SuccessSignal[];
  site: Site;
  /** the page on which the credentials were typed */
  loginUrl: string | undefined;
};

/** Finds out whether an accepted submit has created a session, if no marker of an account shows it. */
export async function proveSession(
  ports: Pick<FlowPorts, 'context' | 'egress' | 'traffic' | 'openStranger' | 'signal'>,
  observed: ObservedPage,
  { state, submitted, signals, loginUrl, site }: Attempted,
): Promise<SessionState> {
  if (state.goal === 'signup' && submitted.step !== 'password') return checkSession(ports, observed, signals);
  if (state.isNamed) return 'unknown';
  const isStep = looksLikeStep(observed.observation, observed.signals);
  if (await findMemberDifference(ports, observed, { loginUrl, calls: ports.traffic.read, isStep })) return 'signedIn';
  // Opens two more pages only after all cheaper checks, and after the page had time to show an account.
  const isLast = state.unproven !== undefined && !isStep;
  if (isLast && (await asksStrangersOnly(ports, site, observed.url))) return 'signedIn';
  return offersSignIn(observed) ? 'signedOut' : 'unknown';
}
