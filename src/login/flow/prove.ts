import { looksLikeStep } from '../detection/interstitials.ts';
import type { Site } from '../site.ts';
import type { SubmitView } from './after-submit.ts';
import { asksStrangersOnly } from './compare-pages.ts';
import type { SuccessSignal } from './evidence.ts';
import type { ObservedPage } from './page-observer.ts';
import type { FlowInput, FlowPorts } from './ports.ts';
import { checkSession, findMemberDifference, findNamedProof, offersSignIn } from './session-check.ts';
import type { SessionState } from './session-check.ts';
import { isMarkerForStrangers } from './stranger-view.ts';
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

type ProofPorts = Pick<FlowPorts, 'context' | 'egress' | 'traffic' | 'openStranger' | 'signal'>;

/** What was found out, and the signs that hold. */
export type Proven = { session: SessionState; signals: SuccessSignal[] };

/** Finds out whether an accepted submit has led to a session. A marker of an account that strangers see is none. */
export async function proveSession(ports: ProofPorts, observed: ObservedPage, attempted: Attempted): Promise<Proven> {
  const { state, submitted } = attempted;
  const isSignup = state.goal === 'signup' && submitted.step !== 'password';
  const isMarked = attempted.signals.includes('account') && !(await isShownToAll(ports, observed));
  const signals = attempted.signals.filter((signal) => signal !== 'account' || isMarked);
  if (isSignup) return { session: await checkSession(ports, observed, signals), signals };
  if (state.isNamed) return { session: 'unknown', signals };
  if (isMarked) return { session: 'signedIn', signals };
  const session = await compareSession(ports, observed, attempted);
  return { session, signals: session === 'signedIn' ? [...signals, 'member-page'] : signals };
}

async function isShownToAll({ egress }: ProofPorts, observed: ObservedPage): Promise<boolean> {
  const userAgent = await observed.page.evaluate<string>('navigator.userAgent').catch(() => '');
  return isMarkerForStrangers({ egress, userAgent }, observed);
}

/** Looks for anything that differs without the session. */
async function compareSession(
  ports: ProofPorts,
  observed: ObservedPage,
  { state, loginUrl, site }: Attempted,
): Promise<SessionState> {
  const isStep = looksLikeStep(observed.observation, observed.signals);
  if (await findMemberDifference(ports, observed, { loginUrl, calls: ports.traffic.read, isStep })) return 'signedIn';
  // Opens two more pages only after all cheaper checks, and after the page had time to show an account.
  const isLast = state.unproven !== undefined && !isStep;
  if (isLast && (await asksStrangersOnly(ports, { site, url: observed.url }))) return 'signedIn';
  return offersSignIn(observed) ? 'signedOut' : 'unknown';
}
