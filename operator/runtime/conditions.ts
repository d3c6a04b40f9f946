import type { Condition } from '../../src/platform/kubernetes/resource.ts';
import type { Reason } from './reasons.ts';

export type ConditionUpdate = {
  type: 'Ready' | 'Restarted' | 'Standby' | 'Growable' | 'FilesLost' | 'BackedUp' | 'Warm';
  status: Condition['status'];
  reason: Reason;
  message: string;
  /** the event happened again: set the transition time even if the status is the same */
  touch?: true;
};

const MAX_MESSAGE = 2000;

/** Applies the updates to the conditions. A transition time changes with the status only, or with `touch`. */
export function buildConditions(
  before: readonly Condition[] | undefined,
  updates: readonly ConditionUpdate[],
  at: { generation: number; now: Date },
): Condition[] {
  const updated = new Set<string>(updates.map(({ type }) => type));
  const others = (before ?? []).filter(({ type }) => !updated.has(type));
  const built = updates.map(({ type, status, reason, message, touch }) => {
    const known = before?.find((condition) => condition.type === type);
    const lastTransitionTime =
      known?.status === status && touch !== true
        ? known.lastTransitionTime
        : at.now.toISOString().replace(/\.\d+Z$/, 'Z');
    const text = message.length > MAX_MESSAGE ? `${cut(message)}…` : message;
    return { type, status, observedGeneration: at.generation, lastTransitionTime, reason, message: text };
  });
  return [...others, ...built];
}

/** Never splits a surrogate pair, which would come back from the API server as another text. */
function cut(message: string): string {
  return message.slice(0, MAX_MESSAGE - 1).replace(/[\uD800-\uDBFF]$/, '');
}
