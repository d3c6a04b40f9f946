import type {
  InboundEvent,
  UserApprovalResponse,
  UserClarifyResult,
  UserCustomToolResult,
} from '../../contract/events.ts';
import { buildInbound } from '../../log/write.ts';
import { errors } from '../../../platform/errors.ts';
import type { Ask, AskAnswer } from '../../store/pending-actions.ts';
import type { Draft } from './plan.ts';

export type Answer = UserApprovalResponse | UserCustomToolResult | UserClarifyResult;

export function isAnswer(event: InboundEvent): event is Answer {
  return (
    event.type === 'user.approval_response' ||
    event.type === 'user.custom_tool_result' ||
    event.type === 'user.clarify_result'
  );
}

/** The id of the ask that the answer names. */
export function askId(event: Answer): string {
  if (event.type === 'user.approval_response') return event.approval_id;
  return event.type === 'user.clarify_result' ? event.request_id : event.tool_use_id;
}

const ANSWERED_WITH: Record<Ask['type'], Answer['type']> = {
  'agent.approval_request': 'user.approval_response',
  'agent.custom_tool_use': 'user.custom_tool_result',
  'agent.clarify_request': 'user.clarify_result',
};
const NAMES: Record<Answer['type'], string> = {
  'user.approval_response': 'approval request',
  'user.custom_tool_result': 'custom tool call',
  'user.clarify_result': 'clarification request',
};

/** The ask that the answer names, if it is one that can be answered so. */
export function findAsk(asks: ReadonlyMap<string, Ask>, event: Answer): Ask | undefined {
  const ask = asks.get(askId(event));
  return ask !== undefined && ANSWERED_WITH[ask.type] === event.type ? ask : undefined;
}

function isFinalStatus(status: string | null | undefined): boolean {
  return status === 'completed' || status === 'failed';
}

function failed(event: UserCustomToolResult): boolean {
  return event.is_error ?? event.status === 'failed';
}

function buildAnswer(event: Answer): AskAnswer {
  if (event.type === 'user.approval_response') return { result: event.result, scope: event.scope };
  if (event.type === 'user.clarify_result') return { answer: event.answer };
  return { content: event.content, status: event.status ?? null, is_error: failed(event) };
}

function resolve({ plan, newEventId }: Draft, ask: Ask, event: Answer): void {
  const eventId = newEventId();
  const kickoff = event.type === 'user.custom_tool_result' && event.status === 'running';
  const answer = buildAnswer(event);
  plan.events.push(buildInbound({ id: eventId, turnId: ask.turnId }, 'processed', event));
  plan.answered.push({ id: ask.id, answer, eventId, kickoff });
  plan.answer.push(eventId);
  plan.points += 1;
  Object.assign(ask, { state: 'answered', answer, answerEventId: eventId, kickoff } satisfies Partial<Ask>);
  if (event.type !== 'user.approval_response' || event.result !== 'allow' || event.scope === 'once') return;
  const tools = plan.approvals[event.scope];
  if (!tools.includes(ask.toolName)) tools.push(ask.toolName);
}

/** The event that holds the final result already taken for this call. */
function findTakenFinal(ask: Ask): string | null {
  if (ask.finalEventId !== null) return ask.finalEventId;
  const answer = ask.answer;
  return answer !== null && 'content' in answer && isFinalStatus(answer.status) ? ask.answerEventId : null;
}

/** A final result for a call that no longer waits: it patches the start it follows, or stands alone; a turn tells the model. */
function takeLateFinal(draft: Draft, ask: Ask, event: UserCustomToolResult): void {
  const { plan } = draft;
  const taken = findTakenFinal(ask);
  if (taken !== null) {
    plan.answer.push(taken);
    return;
  }
  if (ask.state === 'answered' && !ask.kickoff) throw errors.responseExpired();
  const prompt = {
    kind: 'tool_final',
    toolUseId: ask.toolUseId,
    toolName: ask.toolName,
    isError: failed(event),
    content: event.content,
  } as const;
  let eventId = ask.answerEventId;
  if (ask.state === 'answered' && eventId !== null) {
    draft.open({ ...prompt, eventId: null });
    plan.patches.push({ toolUseId: ask.toolUseId, eventId, payload: event });
  } else {
    eventId = draft.newEventId();
    const turnId = draft.open({ ...prompt, eventId });
    plan.events.push(buildInbound({ id: eventId, turnId }, turnId === null ? 'queued' : 'received', event));
  }
  plan.finals.push({ id: ask.id, eventId });
  plan.answer.push(eventId);
  plan.points += 1;
  ask.finalEventId = eventId;
}

/** Takes an answer into the plan. Throws `not_found` or `response_expired`. */
export function takeAnswer(draft: Draft, event: Answer): void {
  const ask = findAsk(draft.asks, event);
  if (ask === undefined) throw errors.notFound(NAMES[event.type]);
  if (ask.state === 'pending') resolve(draft, ask, event);
  else if (event.type === 'user.custom_tool_result' && isFinalStatus(event.status)) takeLateFinal(draft, ask, event);
  else throw errors.responseExpired();
}
