import { planSelection } from '../detection/field-selection.ts';
import type { FieldSelection } from '../detection/field-selection.ts';
import type { Observation } from '../detection/description.ts';
import { decidePageStep } from './decide.ts';
import type { AvailableMethods, PageIdle, PageStep, Progress } from './decide.ts';
import type { ObservedPage } from './page-observer.ts';

/** Names the login's elements on a page where detection finds none or several. */
export type ReadPageForm = (observation: Observation) => Promise<FieldSelection | undefined>;

export type PageDecision = { step: PageStep; observed: ObservedPage };

type Context = { available: AvailableMethods; progress: Progress; idle: PageIdle };

/** Fields that are hidden and forms for other purposes are never offered to a model. */
function isUndecided({ plan }: ObservedPage, step: PageStep): boolean {
  if (step.do !== 'fail') return false;
  return step.code === 'ambiguous_form' || (step.code === 'login_form_not_found' && plan.reason !== 'unseen');
}

/**
 * Decides on a page, with a model's help if detection fails: once per flow, and only before anything was submitted.
 * The selection must still match the page, and follows the same rules as a plan of detection.
 */
export function withModelFallback(read: ReadPageForm | undefined, observe: () => Promise<ObservedPage>) {
  let reading: Promise<FieldSelection | undefined> | undefined;
  return async (observed: ObservedPage, { available, progress, idle }: Context): Promise<PageDecision> => {
    const own = { step: decidePageStep(observed, available, { progress, idle }), observed };
    const hasSent = progress.usernameSent || progress.passwordSent;
    if (read === undefined || hasSent || !isUndecided(observed, own.step)) return own;
    reading ??= read(observed.observation);
    const selection = await reading;
    if (selection === undefined) return own;
    const current = await observe();
    const plan = planSelection(current.observation, selection);
    if (plan === undefined) return own;
    const step = decidePageStep({ ...current, plan }, available, { progress, idle });
    return step.do === 'fail' ? own : { step, observed: current };
  };
}
