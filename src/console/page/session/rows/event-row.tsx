import { ChevronRight } from 'lucide-react';
import { memo } from 'react';
import type { ReactNode } from 'react';
import { isOf, isToolUse, textOf, threadIdOf } from '../../data/events.ts';
import type { EventEnvelope, ToolUseEvent } from '../../data/events.ts';
import type { Session, Turn } from '../../data/types.ts';
import { t } from '../../i18n/t.ts';
import { formatDuration, formatTime } from '../../text/format.ts';
import type { Fold } from '../folds.ts';
import { TurnHeader } from '../turn-header.tsx';
import { Approval, Clarification } from './pending-actions.tsx';
import { isAbsorbed, isFailure, readStop } from './kinds.ts';
import { AgentMessage, BudgetNote, OtherEvent, StopNote, Thinking, UserMessage } from './messages.tsx';
import { ToolCall } from './tool-call.tsx';

export type RowProps = {
  event: EventEnvelope;
  result: EventEnvelope | undefined;
  /** what the call has printed so far, while it runs */
  output: string | undefined;
  answer: EventEnvelope | undefined;
  /** set where the row is the first of its turn */
  turn: { number: number | undefined; turn: Turn | undefined } | undefined;
  /** set where the row belongs to a group that is shown as one line */
  fold: Fold | undefined;
  isFoldOpen: boolean;
  session: Session;
  isOpen: boolean | undefined;
  isFirstOpenAsk: boolean;
  onToggle: (id: string, isOpen: boolean) => void;
};

type CallProps = Omit<RowProps, 'event'> & { event: ToolUseEvent };

function Call({ event, result, output, session, isOpen, onToggle }: CallProps) {
  const shown = isOpen ?? (output !== undefined || (result !== undefined && isFailure(result)));
  return (
    <ToolCall
      use={event}
      result={result}
      output={output}
      isRunning={session.status === 'running'}
      isOpen={shown}
      onToggle={() => onToggle(event.id, !shown)}
    />
  );
}

function Stop({ event }: RowProps) {
  const stop = readStop(event);
  if (stop?.type === 'error') return <StopNote stop={stop} />;
  if (stop?.type === 'budget_reached') return <BudgetNote budget={stop.budget} />;
  return <p className="meta">{t('Interrupted.')}</p>;
}

const said = ({ event, session }: RowProps) => <UserMessage event={event} subject={session.subjectId} />;

const CONTENTS: Record<string, (props: RowProps) => ReactNode> = {
  'user.message': said,
  'user.steer': said,
  'user.interrupt': said,
  'agent.message': ({ event }) => <AgentMessage text={textOf(event.payload)} />,
  'agent.thinking': ({ event, isOpen = false, onToggle }) => (
    <Thinking text={textOf(event.payload)} isOpen={isOpen} onToggle={() => onToggle(event.id, !isOpen)} />
  ),
  'session.status_idle': (props) => <Stop {...props} />,
};

function Content(props: RowProps) {
  const { event, isOpen = false, onToggle } = props;
  if (isToolUse(event)) return <Call {...props} event={event} />;
  const { answer, session, isFirstOpenAsk: isFirstOpen } = props;
  if (isOf(event, 'agent.approval_request')) return <Approval {...{ event, answer, session, isFirstOpen }} />;
  if (isOf(event, 'agent.clarify_request')) return <Clarification {...{ event, answer, session, isFirstOpen }} />;
  if (Object.hasOwn(CONTENTS, event.type)) return CONTENTS[event.type]?.(props);
  return <OtherEvent event={event} isOpen={isOpen} onToggle={() => onToggle(event.id, !isOpen)} />;
}

function FoldLine({ fold, isOpen, onToggle }: { fold: Fold; isOpen: boolean; onToggle: () => void }) {
  return (
    <div className="event">
      <span className="event-time" />
      <div className="event-content">
        <button type="button" className="fold-line" aria-expanded={isOpen} onClick={onToggle}>
          <ChevronRight size={14} aria-hidden="true" className={isOpen ? 'turned' : ''} />
          {t('{n} reads, {time}', { n: fold.calls, time: formatDuration(fold.ms) })}
        </button>
      </div>
    </div>
  );
}

/** One event of the transcript with its time. Those of subagents are indented. */
export const EventRow = memo(function EventRow(props: RowProps) {
  const { event, turn, fold, isFoldOpen, onToggle } = props;
  const thread = threadIdOf(event);
  return (
    <>
      {turn === undefined ? null : <TurnHeader number={turn.number} turn={turn.turn} />}
      {fold === undefined || fold.first !== event.sequence ? null : (
        <FoldLine fold={fold} isOpen={isFoldOpen} onToggle={() => onToggle(fold.id, !isFoldOpen)} />
      )}
      {isAbsorbed(event) || (fold !== undefined && !isFoldOpen) ? null : (
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
