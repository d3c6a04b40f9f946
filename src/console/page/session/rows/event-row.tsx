import { memo } from 'react';
import { isToolResult, isToolUse, readPayload, textOf } from '../../data/events.ts';
import type { EventEnvelope, StopReason, TextBlock, ToolResult, ToolUse } from '../../data/events.ts';
import type { Session, Turn } from '../../data/types.ts';
import { t } from '../../i18n/t.ts';
import { formatTime } from '../../text/format.ts';
import { TurnHeader } from '../turn-header.tsx';
import { Approval, Clarification } from './asks.tsx';
import { AgentMessage, OtherEvent, StopNote, Thinking, UserMessage } from './messages.tsx';
import { ToolCall } from './tool-call.tsx';

export type RowProps = {
  event: EventEnvelope;
  result: EventEnvelope | undefined;
  answer: EventEnvelope | undefined;
  /** set where the row is the first of its turn */
  turn: { number: number | undefined; turn: Turn | undefined } | undefined;
  session: Session;
  isOpen: boolean | undefined;
  isFirstOpenAsk: boolean;
  onToggle: (id: string, isOpen: boolean) => void;
};

const SILENT = new Set([
  'session.status_running',
  'session.title_updated',
  'user.approval_response',
  'user.clarify_result',
]);

function readStop(event: EventEnvelope): StopReason | undefined {
  return event.type === 'session.status_idle' ? readPayload<{ stop_reason?: StopReason }>(event).stop_reason : undefined;
}

export function isFailure(event: EventEnvelope): boolean {
  if (isToolResult(event)) return readPayload<ToolResult>(event).is_error === true;
  return readStop(event)?.type === 'error';
}

/** What is shown at another row, or says nothing: its row has no height. */
export function isAbsorbed(event: EventEnvelope): boolean {
  if (SILENT.has(event.type) || isToolResult(event)) return true;
  if (event.type !== 'session.status_idle') return false;
  const payload = readPayload<{ interrupted?: true }>(event);
  return readStop(event)?.type !== 'error' && payload.interrupted !== true;
}

function Content({ event, result, answer, session, isOpen, isFirstOpenAsk, onToggle }: RowProps) {
  const payload = readPayload<{ content?: TextBlock[] }>(event);
  const toggle = (before: boolean) => () => onToggle(event.id, !before);
  if (isToolUse(event)) {
    const isFailed = result !== undefined && isFailure(result);
    const shown = isOpen ?? isFailed;
    return <ToolCall use={event} result={result} isOpen={shown} onToggle={toggle(shown)} />;
  }
  switch (event.type) {
    case 'user.message':
    case 'user.steer':
    case 'user.interrupt':
      return <UserMessage event={event} subject={session.subjectId} />;
    case 'agent.message':
      return <AgentMessage text={textOf(payload.content)} />;
    case 'agent.thinking':
      return <Thinking text={textOf(payload.content)} isOpen={isOpen ?? false} onToggle={toggle(isOpen ?? false)} />;
    case 'agent.approval_request':
      return <Approval event={event} answer={answer} session={session} isFirstOpen={isFirstOpenAsk} />;
    case 'agent.clarify_request':
      return <Clarification event={event} answer={answer} session={session} isFirstOpen={isFirstOpenAsk} />;
    case 'session.status_idle': {
      const stop = readStop(event);
      return stop?.type === 'error' ? <StopNote stop={stop} /> : <p className="meta">{t('Interrupted.')}</p>;
    }
    default:
      return <OtherEvent event={event} isOpen={isOpen ?? false} onToggle={toggle(isOpen ?? false)} />;
  }
}

/** One event of the transcript with its time. Those of subagents are indented. */
export const EventRow = memo(function EventRow(props: RowProps) {
  const { event, turn } = props;
  const thread = readPayload<Partial<ToolUse>>(event).thread_id;
  return (
    <>
      {turn === undefined ? null : <TurnHeader number={turn.number} turn={turn.turn} />}
      {isAbsorbed(event) ? null : (
        <div className={thread === undefined ? 'event' : 'event event-nested'}>
          <time className="event-time" dateTime={event.createdAt}>
            {formatTime(event.createdAt)}
          </time>
          <div className="event-content">
            <Content {...props} />
          </div>
        </div>
      )}
    </>
  );
});
