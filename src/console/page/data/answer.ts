import type { InfiniteData } from '@tanstack/react-query';
import { ApiError } from '../../../../clients/typescript/errors.ts';
import { get, request } from './http.ts';
import { queries } from './queries.ts';
import { buildStore } from './store.ts';
import type { ActionType, ApprovalScope, CursorPage, PendingAction } from './types.ts';
import { t } from '../i18n/t.ts';

export type Answer =
  | { result: 'allow'; scope: ApprovalScope }
  | { result: 'deny'; message: string }
  | { text: string; isError?: boolean };

export type Ask = { id: string; type: ActionType; sessionId: string; toolUseId?: string | undefined };

function buildEvent({ id, type, toolUseId }: Ask, answer: Answer): Record<string, unknown> {
  if ('result' in answer) {
    const base = { type: 'user.approval_response', approval_id: id, result: answer.result };
    if (answer.result === 'allow') return { ...base, scope: answer.scope };
    return answer.message === '' ? base : { ...base, message: answer.message };
  }
  if (type === 'clarify') return { type: 'user.clarify_result', request_id: id, answer: answer.text };
  return {
    type: 'user.custom_tool_result',
    tool_use_id: toolUseId ?? id,
    content: [{ type: 'text', text: answer.text }],
    is_error: answer.isError ?? false,
  };
}

function describeAnswer(action: PendingAction): string {
  const by = action.answeredBy?.name ?? action.answeredBy?.id;
  return by === undefined ? t('This has been answered already.') : t('{name} has answered this already.', { name: by });
}

/** The last answer that was refused or lost. The inbox shows it, because the card of the pending action is gone by then. */
export const failedAnswer = buildStore<{ title: string; error: unknown } | undefined>(undefined);

/** One idempotency key per pending action, so that a retry after a lost connection counts as the same answer. */
const keys = new Map<string, string>();

type Pages = InfiniteData<CursorPage<PendingAction>>;

/** Removes the row from every list at once. Returns a function that restores it. */
function removeRow(id: string): () => void {
  const before = queries.getQueriesData<Pages>({ queryKey: ['pending-actions'] });
  for (const [key, data] of before) {
    if (data === undefined || !('pages' in data)) continue;
    const pages = data.pages.map((page) => ({ ...page, data: page.data.filter((each) => each.id !== id) }));
    queries.setQueryData(key, { ...data, pages });
  }
  return () => {
    for (const [key, data] of before) queries.setQueryData(key, data);
  };
}

/**
 * Sends an answer. The pending action leaves the lists at once and returns if sending fails. Throws an error with a
 * message for people.
 */
export async function sendAnswer(ask: Ask, answer: Answer): Promise<void> {
  const content = JSON.stringify(answer);
  const idempotencyKey = keys.get(`${ask.id} ${content}`) ?? crypto.randomUUID();
  keys.set(`${ask.id} ${content}`, idempotencyKey);
  await queries.cancelQueries({ queryKey: ['pending-actions'] });
  const putBack = removeRow(ask.id);
  try {
    const path = `v1/sessions/${encodeURIComponent(ask.sessionId)}/events`;
    await request('POST', path, { body: { events: [buildEvent(ask, answer)] }, idempotencyKey });
  } catch (error) {
    if (error instanceof ApiError && error.status === 410) {
      const action = await get<PendingAction>(`v1/pending-actions/${encodeURIComponent(ask.id)}`).catch(
        () => undefined,
      );
      throw new Error(action === undefined ? t('This has been answered already.') : describeAnswer(action), {
        cause: error,
      });
    }
    putBack();
    throw error;
  } finally {
    void queries.invalidateQueries({ queryKey: ['pending-actions'] });
    void queries.invalidateQueries({ queryKey: ['session', ask.sessionId] });
  }
}
