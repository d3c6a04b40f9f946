import type { StepCall } from '../../log/event.ts';
import type { CallPlan } from './decide.ts';

export type PlannedCall = { call: StepCall; plan: CallPlan };
export type RunnableCall = { call: StepCall; plan: Extract<CallPlan, { kind: 'run' }> };
export type RefusedCall = { call: StepCall; plan: Extract<CallPlan, { kind: 'fail' }> };

/** Neighbouring calls that are settled in the same way. */
export type CallGroup = { kind: 'run'; calls: RunnableCall[] } | { kind: 'fail'; calls: RefusedCall[] };

/**
 * The calls of a reply before the first one that needs the caller, and that one with everything behind it. The caller
 * approves, answers a clarification or runs a custom tool.
 */
export function splitAtFirstRequest(planned: readonly PlannedCall[]): { leading: PlannedCall[]; held: PlannedCall[] } {
  const first = planned.findIndex(({ plan }) => plan.kind !== 'done' && plan.kind !== 'run' && plan.kind !== 'fail');
  if (first < 0) return { leading: [...planned], held: [] };
  return { leading: planned.slice(0, first), held: planned.slice(first) };
}

/** The calls to run and to refuse, in order; those that have a result are left out. */
export function buildGroups(leading: readonly PlannedCall[]): CallGroup[] {
  const groups: CallGroup[] = [];
  for (const { call, plan } of leading) {
    const last = groups.at(-1);
    if (plan.kind === 'run') {
      if (last?.kind === 'run') last.calls.push({ call, plan });
      else groups.push({ kind: 'run', calls: [{ call, plan }] });
    } else if (plan.kind === 'fail') {
      if (last?.kind === 'fail') last.calls.push({ call, plan });
      else groups.push({ kind: 'fail', calls: [{ call, plan }] });
    }
  }
  return groups;
}

/**
 * The held calls to put to the caller now: every approval and clarification, but only those custom tools that no other
 * call precedes, because the caller runs a custom tool as soon as it is requested.
 */
export function listRequestable(held: readonly PlannedCall[]): PlannedCall[] {
  const isNext = ({ plan }: PlannedCall) => plan.kind === 'custom' || plan.kind === 'done';
  const end = held.findIndex((call) => !isNext(call));
  const next = end < 0 ? held.length : end;
  return held.filter(({ plan }, index) => {
    return plan.kind === 'approve' || plan.kind === 'clarify' || (plan.kind === 'custom' && index < next);
  });
}
