import { z } from 'zod';
import type { TurnCall } from '../../log/turns.ts';
import type { GoalState } from '../../contract/goals.ts';
import { collectReply } from '../../../inference/collect.ts';
import { ModelError } from '../../../inference/model.ts';
import type { Inference, ModelRequest, ModelUsage } from '../../../inference/model.ts';
import { JUDGE_SYSTEM } from '../../../inference/script-judge.ts';

/** Characters of the goal and of the reply that the judge reads. */
const MAX_OBJECTIVE = 2000;
const MAX_REPLY = 4000;
const MAX_REASON = 500;
const JUDGE_TIMEOUT_MS = 30_000;
/** After this many unreadable verdicts or failed calls in a row the goal is paused. */
const MAX_UNREADABLE = 3;
const MAX_FAILURES = 5;

const Answer = z.object({ verdict: z.enum(['done', 'continue', 'blocked']), reason: z.string().catch('') });

export type Verdict =
  | { kind: 'done' | 'continue' | 'blocked'; reason: string }
  /** the reply was not a verdict */
  | { kind: 'unreadable' }
  /** the call of the judge failed */
  | { kind: 'failed' }
  /** the turn itself ended in an error */
  | { kind: 'broken'; reason: string };

/** Calls that the judge reads, and characters of each input and result. */
const MAX_CALLS = 12;
const MAX_CALL = 300;

function renderQuestion(question: { objective: string; reply: string; calls: readonly TurnCall[] }): string {
  const calls = question.calls.slice(-MAX_CALLS).map(({ name, input, result, isError }) => {
    const outcome = `${isError ? 'failed' : 'ok'}: ${cutText(result.replaceAll(/\s+/g, ' '), MAX_CALL)}`;
    return `- ${name} ${cutText(JSON.stringify(input), MAX_CALL)} -> ${outcome}`;
  });
  return [
    `Goal:\n${cutText(question.objective, MAX_OBJECTIVE)}`,
    ...(calls.length === 0 ? [] : [`Tool calls of the turn, and what they returned:\n${calls.join('\n')}`]),
    `Latest reply:\n${cutText(question.reply, MAX_REPLY)}`,
  ].join('\n\n');
}

/** The verdict and the usage of the call. Throws only the signal's reason. */
export async function askJudge(
  question: { objective: string; reply: string; calls: readonly TurnCall[]; model: string },
  inference: Inference,
  signal: AbortSignal,
): Promise<{ verdict: Verdict; used?: { usage: ModelUsage; model: string }; error?: unknown }> {
  const text = renderQuestion(question);
  const request: ModelRequest = {
    model: question.model,
    system: JUDGE_SYSTEM,
    messages: [{ role: 'user', content: [{ type: 'text', text }] }],
    tools: [],
    temperature: 0,
  };
  const timed = AbortSignal.any([signal, AbortSignal.timeout(JUDGE_TIMEOUT_MS)]);
  try {
    const reply = await collectReply(inference.stream(request, timed)).catch((error: unknown) => {
      // Some models accept only their default temperature.
      if (!(error instanceof ModelError) || error.code !== 'invalid_request') throw error;
      const { temperature: _temperature, ...rest } = request;
      return collectReply(inference.stream(rest, timed));
    });
    const said = reply.content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
    return { verdict: readVerdict(said), used: { usage: reply.usage, model: reply.model } };
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    return { verdict: { kind: 'failed' }, error };
  }
}

/** Reads the JSON object in a reply, whatever text surrounds it. The reason is optional. */
export function readVerdict(text: string): Verdict {
  let value: unknown;
  try {
    value = JSON.parse(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1));
  } catch {
    return { kind: 'unreadable' };
  }
  const { success, data } = Answer.safeParse(value);
  return success ? { kind: data.verdict, reason: cutText(data.reason, MAX_REASON) } : { kind: 'unreadable' };
}

/** The state of the goal after one more turn. `message` is shown to the user; `continues`: another turn follows. */
export type GoalStep = { goal: GoalState; continues: boolean; message?: string };

/** Pure. A goal that is neither done nor blocked continues, within the limits of turns and of failures. */
export function decideGoal(before: GoalState, verdict: Verdict): GoalStep {
  const goal: GoalState = {
    ...before,
    turnsUsed: before.turnsUsed + 1,
    unreadable: verdict.kind === 'unreadable' ? before.unreadable + 1 : 0,
    failures: verdict.kind === 'failed' ? before.failures + 1 : 0,
    reason: 'reason' in verdict ? verdict.reason : before.reason,
  };
  const pause = (reason: string): GoalStep => ({
    goal: { ...goal, status: 'paused', reason },
    continues: false,
    message: `The goal is paused: ${reason} /goal resume goes on with it.`,
  });
  if (verdict.kind === 'done') {
    return {
      goal: { ...goal, status: 'done' },
      continues: false,
      message: `The goal is reached. ${verdict.reason}`.trim(),
    };
  }
  if (verdict.kind === 'blocked') return pause(endSentence(verdict.reason || 'It is blocked'));
  if (verdict.kind === 'broken') return pause(`The last turn failed. ${endSentence(verdict.reason)}`);
  if (goal.unreadable >= MAX_UNREADABLE) {
    return pause(`${MAX_UNREADABLE} verdicts in a row on whether it is reached could not be read.`);
  }
  if (goal.failures >= MAX_FAILURES) return pause(`Nobody could be asked ${MAX_FAILURES} times whether it is reached.`);
  if (goal.turnsUsed >= goal.maxTurns) return pause(`Its budget of ${goal.maxTurns} turns is spent.`);
  return { goal, continues: true };
}

function endSentence(text: string): string {
  return /[.!?]\s*$/.test(text) ? text.trim() : `${text.trim()}.`;
}

/** The prompt that sets a goal, as the model reads it. */
export function renderGoalStart(text: string): string {
  const objective = text.replace(/^\/goal\s+/, '').trim();
  return (
    `${objective}\n\n[This is a goal for this conversation. After each of your turns a judge decides whether it is ` +
    'reached; while work remains you are asked to go on. Say so when it is reached, or what blocks you.]'
  );
}

/** The prompt of each later turn of a goal. */
export function renderGoalNext({ objective, reason }: { objective: string; reason: string | null }): string {
  const why = reason === null || reason === '' ? '' : `\n\nWhat is missing: ${reason}`;
  return `[Go on with the goal of this conversation:]\n${cutText(objective, MAX_REPLY)}${why}`;
}

/** Truncates to a number of UTF-16 units, without splitting a character. */
function cutText(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
