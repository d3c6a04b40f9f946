import { memo } from 'react';
import type { ReactNode } from 'react';
import { isToolResult, isToolUse, readPayload, textOf } from '../../data/events.ts';
import type { EventEnvelope, StopReason, TextBlock, ToolResult, ToolUse } from '../../data/events.ts';
import type { Session, Turn } from '../../data/types.ts';
import { t } from '../../i18n/t.ts';
import { formatTime } from '../../text/format.ts';
import { TurnHeader } from '../turn-header.tsx';
import { Approval, Clarification } from './pending-actions.tsx';
import { AgentMessage, OtherEvent, StopNote, Thinking, UserMessage } from './messages.tsx';
import { ToolCall } from './tool-call.tsx';

type Said = { content?: TextBlock[] };

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
  return event.type === 'session.status_idle'
    ? readPayload<{ stop_reason?: StopReason }>(event).stop_reason
    : undefined;
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

function Call({ event, result, session, isOpen, onToggle }: RowProps) {
  const shown = isOpen ?? (result !== undefined && isFailure(result));
  return (
    <ToolCall
      use={event}
      result={result}
      isRunning={session.status === 'running'}
      isOpen={shown}
      onToggle={() => onToggle(event.id, !shown)}
    />
  );
}

function Stop({ event }: RowProps) {
  const stop = readStop(event);
  return stop?.type === 'error' ? <StopNote stop={stop} /> : <p className="meta">{t('Interrupted.')}</p>;
}

const said = ({ event, session }: RowProps) => <UserMessage event={event} subject={session.subjectId} />;

const CONTENTS: Record<string, (props: RowProps) => ReactNode> = {
  'user.message': said,
  'user.steer': said,
  'user.interrupt': said,
  'agent.message': ({ event }) => <AgentMessage text={textOf(readPayload<Said>(event).content)} />,
  'agent.thinking': ({ event, isOpen = false, onToggle }) => (
    <Thinking
      text={textOf(readPayload<Said>(event).content)}
      isOpen={isOpen}
      onToggle={() => onToggle(event.id, !isOpen)}
    />
  ),
  'agent.approval_request': ({ event, answer, session, isFirstOpenAsk }) => (
    <Approval event={event} answer={answer} session={session} isFirstOpen={isFirstOpenAsk} />
  ),
  'agent.clarify_request': ({ event, answer, session, isFirstOpenAsk }) => (
    <Clarification event={event} answer={answer} session={session} isFirstOpen={isFirstOpenAsk} />
  ),
  'session.status_idle': (props) => <Stop {...props} />,
};

function Content(props: RowProps) {
  const { event, isOpen = false, onToggle } = props;
  if (isToolUse(event)) return <Call {...props} />;
  if (Object.hasOwn(CONTENTS, event.type)) return CONTENTS[event.type]?.(props);
  return <OtherEvent event={event} isOpen={isOpen} onToggle={() => onToggle(event.id, !isOpen)} />;
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
