import type {
  InboundEvent,
  UserApprovalResponse,
  UserClarifyResult,
  UserCustomToolResult,
} from '../../contract/events.ts';
import { buildInbound } from '../../log/build-events.ts';
import { errors } from '../../../platform/errors.ts';
import { omitUndefined } from '../../../platform/records.ts';
import type { StoredAction, ActionAnswer } from '../../store/pending-actions.ts';
import type { Draft } from './send-plan.ts';

export type Answer = UserApprovalResponse | UserCustomToolResult | UserClarifyResult;

export function isAnswer(event: InboundEvent): event is Answer {
  return (
    event.type === 'user.approval_response' ||
    event.type === 'user.custom_tool_result' ||
    event.type === 'user.clarify_result'
  );
}

/** The id of the action that the answer names. */
export function actionId(event: Answer): string {
  if (event.type === 'user.approval_response') return event.approval_id;
  return event.type === 'user.clarify_result' ? event.request_id : event.tool_use_id;
}

const ANSWERED_WITH: Record<StoredAction['type'], Answer['type']> = {
  'agent.approval_request': 'user.approval_response',
  'agent.custom_tool_use': 'user.custom_tool_result',
  'agent.clarify_request': 'user.clarify_result',
};
const NAMES: Record<Answer['type'], string> = {
  'user.approval_response': 'approval request',
  'user.custom_tool_result': 'custom tool call',
  'user.clarify_result': 'clarification request',
};

/** The action that the answer names, if it is one that can be answered so. */
export function findAction(actions: ReadonlyMap<string, StoredAction>, event: Answer): StoredAction | undefined {
  const action = actions.get(actionId(event));
  return action !== undefined && ANSWERED_WITH[action.type] === event.type ? action : undefined;
}

function isFinalStatus(status: string | null | undefined): boolean {
  return status === 'completed' || status === 'failed';
}

function failed(event: UserCustomToolResult): boolean {
  return event.is_error ?? event.status === 'failed';
}

function buildAnswer(event: Answer): ActionAnswer {
  if (event.type === 'user.approval_response') {
    const { result, scope, message } = event;
    return { result, scope, ...omitUndefined({ message }) };
  }
  if (event.type === 'user.clarify_result') return { answer: event.answer };
  return { content: event.content, status: event.status ?? null, is_error: failed(event) };
}

function resolve({ plan, newEventId }: Draft, action: StoredAction, event: Answer): void {
  const eventId = newEventId();
  const kickoff = event.type === 'user.custom_tool_result' && event.status === 'running';
  const answer = buildAnswer(event);
  plan.events.push(buildInbound({ id: eventId, turnId: action.turnId }, 'processed', event));
  plan.answered.push({ id: action.id, answer, eventId, kickoff });
  plan.answer.push(eventId);
  plan.points += 1;
  Object.assign(action, { state: 'answered', answer, answerEventId: eventId, kickoff } satisfies Partial<StoredAction>);
  if (event.type !== 'user.approval_response' || event.result !== 'allow' || event.scope === 'once') return;
  const tools = plan.approvals[event.scope];
  if (!tools.includes(action.toolName)) tools.push(action.toolName);
}

/** The event with the final result that was already accepted for this call. */
function findTakenFinal(action: StoredAction): string | null {
  if (action.finalEventId !== null) return action.finalEventId;
  const answer = action.answer;
  return answer !== null && 'content' in answer && isFinalStatus(answer.status) ? action.answerEventId : null;
}

/**
 * A final result for a call that no longer waits: it patches the start it follows, or stands alone; a turn tells the
 * model.
 */
function takeLateFinal(draft: Draft, action: StoredAction, event: UserCustomToolResult): void {
  const { plan } = draft;
  const taken = findTakenFinal(action);
  if (taken !== null) {
    plan.answer.push(taken);
    return;
  }
  if (action.state === 'answered' && !action.kickoff) throw errors.responseExpired();
  const prompt = {
    kind: 'tool_final',
    toolUseId: action.toolUseId,
    toolName: action.toolName,
    isError: failed(event),
    content: event.content,
  } as const;
  let eventId = action.answerEventId;
  if (action.state === 'answered' && eventId !== null) {
    draft.open({ ...prompt, eventId: null });
    plan.patches.push({ toolUseId: action.toolUseId, eventId, payload: event });
  } else {
    eventId = draft.newEventId();
    const turnId = draft.open({ ...prompt, eventId });
    plan.events.push(buildInbound({ id: eventId, turnId }, turnId === null ? 'queued' : 'received', event));
  }
  plan.finals.push({ id: action.id, eventId });
  plan.answer.push(eventId);
  plan.points += 1;
  action.finalEventId = eventId;
}

/** Takes an answer into the plan. Throws `not_found` or `response_expired`. */
export function takeAnswer(draft: Draft, event: Answer): void {
  const action = findAction(draft.actions, event);
  if (action === undefined) throw errors.notFound(NAMES[event.type]);
  if (action.state === 'pending') resolve(draft, action, event);
  else if (event.type === 'user.custom_tool_result' && isFinalStatus(event.status)) takeLateFinal(draft, action, event);
  else throw errors.responseExpired();
}
