import type { UserMessage } from './events.ts';
import type { Goal } from './sessions.ts';

/** The turns that a goal may take before a person has to decide. */
export const GOAL_TURNS = 20;

export const GOAL_ACTIONS = ['status', 'pause', 'resume', 'clear', 'stop', 'done'] as const;
export type GoalAction = (typeof GOAL_ACTIONS)[number];

/** What a message says about the goal of its session. */
export type GoalPhrase = { kind: 'start'; objective: string } | { kind: 'control'; action: GoalAction };

/** A goal as it is kept with its session: what callers see, and what the loop needs beside. */
export type GoalState = Goal & {
  /** grows with each change that a caller makes, so that a judge's verdict never undoes one */
  revision: number;
  /** verdicts in a row that could not be read */
  unreadable: number;
  /** calls of the judge in a row that failed */
  failures: number;
};

const PREFIX = '/goal ';

/**
 * Undefined for an ordinary prompt: one without the prefix or without an objective, and one with attachments or
 * metadata, whatever its text.
 */
export function readGoalPhrase(message: UserMessage): GoalPhrase | undefined {
  const { content, attachments = [], metadata = {} } = message;
  const text = content.map((block) => block.text).join('\n');
  if (!text.startsWith(PREFIX) || attachments.length > 0 || Object.keys(metadata).length > 0) return undefined;
  const rest = text.slice(PREFIX.length).trim();
  if (rest === '') return undefined;
  const action = GOAL_ACTIONS.find((candidate) => candidate === rest);
  return action === undefined ? { kind: 'start', objective: rest } : { kind: 'control', action };
}

export function startGoal(objective: string, before: GoalState | null): GoalState {
  return {
    objective,
    status: 'active',
    turnsUsed: 0,
    maxTurns: GOAL_TURNS,
    reason: null,
    revision: (before?.revision ?? 0) + 1,
    unreadable: 0,
    failures: 0,
  };
}

/** The part that callers see. */
export function renderGoal(goal: GoalState | null): Goal | null {
  if (goal === null) return null;
  const { objective, status, turnsUsed, maxTurns, reason } = goal;
  return { objective, status, turnsUsed, maxTurns, reason };
}
