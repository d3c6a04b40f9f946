import { planSelection } from '../detection/field-selection.ts';
import type { FieldSelection } from '../detection/field-selection.ts';
import type { Observation } from '../detection/description.ts';
import { decideStep } from './decide.ts';
import type { AvailableMethods, Progress, Step } from './decide.ts';
import type { ObservedPage } from './page-observer.ts';

/** Says which elements are a login's, of a page on which the plan finds none or several. */
export type ReadPageForm = (observation: Observation) => Promise<FieldSelection | undefined>;

/** What a reader is asked about. Fields that nobody sees and forms for other purposes are none of it. */
function isUnread({ plan }: ObservedPage, step: Step): boolean {
  if (step.do !== 'fail') return false;
  return step.code === 'ambiguous_form' || (step.code === 'login_form_not_found' && plan.reason !== 'unseen');
}

/**
 * Asks once a flow, and only before anything has been sent. What is picked has to hold on the page as it is by then, and
 * is refused or carried out by the rules for plans of our own.
 */
export function openUnread(read: ReadPageForm | undefined, look: () => Promise<ObservedPage>) {
  let asked: Promise<FieldSelection | undefined> | undefined;
  return async (
    observed: ObservedPage,
    step: Step,
    available: AvailableMethods,
    progress: Progress,
  ): Promise<{ observed: ObservedPage; step: Step }> => {
    const isOver = progress.usernameSent || progress.passwordSent;
    if (read === undefined || isOver || !isUnread(observed, step)) return { observed, step };
    asked ??= read(observed.observation);
    const selection = await asked;
    if (selection === undefined) return { observed, step };
    const now = await look();
    const plan = planSelection(now.observation, selection);
    const own = plan === undefined ? undefined : decideStep({ ...now, plan }, available, progress);
    return own === undefined || own.do === 'fail' ? { observed, step } : { observed: now, step: own };
  };
}
