import { planPick } from '../detection/field-selection.ts';
import type { Pick } from '../detection/field-selection.ts';
import type { Observation } from '../detection/description.ts';
import { decideStep } from './decide.ts';
import type { Means, Progress, Step } from './decide.ts';
import type { Sight } from './page-observer.ts';

/** Says which elements are a login's, of a page on which the plan finds none or several. */
export type AskReader = (observation: Observation) => Promise<Pick | undefined>;

/** What a reader is asked about. Fields that nobody sees and forms for other purposes are none of it. */
function isUnread({ plan }: Sight, step: Step): boolean {
  if (step.do !== 'fail') return false;
  return step.code === 'ambiguous_form' || (step.code === 'login_form_not_found' && plan.reason !== 'unseen');
}

/**
 * Asks once a flow, and only before anything has been sent. What is picked has to hold on the page as it is by then, and
 * is refused or carried out by the rules for plans of our own.
 */
export function openUnread(read: AskReader | undefined, look: () => Promise<Sight>) {
  let asked: Promise<Pick | undefined> | undefined;
  return async (sight: Sight, step: Step, means: Means, progress: Progress): Promise<{ sight: Sight; step: Step }> => {
    const isOver = progress.usernameSent || progress.passwordSent;
    if (read === undefined || isOver || !isUnread(sight, step)) return { sight, step };
    asked ??= read(sight.observation);
    const pick = await asked;
    if (pick === undefined) return { sight, step };
    const now = await look();
    const plan = planPick(now.observation, pick);
    const own = plan === undefined ? undefined : decideStep({ ...now, plan }, means, progress);
    return own === undefined || own.do === 'fail' ? { sight, step } : { sight: now, step: own };
  };
}
