import type { Condition } from '../../src/platform/kubernetes/resource.ts';

export type Finding = {
  type: string;
  status: Condition['status'];
  reason: string;
  message: string;
  /** it happened again: the time is that of this finding, whatever was known */
  isNew?: true;
};

const MAX_MESSAGE = 2000;

/** The conditions with these findings in; the time of a transition changes only with the status. */
export function buildConditions(
  before: readonly Condition[] | undefined,
  findings: readonly Finding[],
  at: { generation: number; now: Date },
): Condition[] {
  const owned = new Set(findings.map(({ type }) => type));
  const others = (before ?? []).filter(({ type }) => !owned.has(type));
  const built = findings.map(({ type, status, reason, message, isNew }) => {
    const known = before?.find((condition) => condition.type === type);
    const since =
      known?.status === status && isNew !== true
        ? known.lastTransitionTime
        : at.now.toISOString().replace(/\.\d+Z$/, 'Z');
    const text = message.length > MAX_MESSAGE ? `${message.slice(0, MAX_MESSAGE - 1)}…` : message;
    return { type, status, observedGeneration: at.generation, lastTransitionTime: since, reason, message: text };
  });
  return [...others, ...built];
}
