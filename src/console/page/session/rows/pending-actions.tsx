import { CircleAlert, CircleHelp } from 'lucide-react';
import { isOf } from '../../data/events.ts';
import type { EventEnvelope, EventOf } from '../../data/events.ts';
import type { Session } from '../../data/types.ts';
import { useNow } from '../../data/use-now.ts';
import { t } from '../../i18n/t.ts';
import { AnswerForm } from '../../inbox/answer-form.tsx';
import { Markdown } from '../../parts/markdown.tsx';
import { MarkedText } from '../../parts/marked-text.tsx';
import { formatAge, formatTime } from '../../text/format.ts';
import { Input } from './tool-call.tsx';

type Props<T extends 'agent.approval_request' | 'agent.clarify_request'> = {
  event: EventOf<T>;
  answer: EventEnvelope | undefined;
  session: Session;
  isFirstOpen: boolean;
};
type By = { actor?: { name?: string | null; id?: string }; answeredBy?: { name?: string | null; id?: string } };

const SCOPES: Record<string, string> = {
  once: 'Allowed once',
  session: 'Allowed for this session',
  always: 'Always allowed',
};

function describeAnswer(event: EventEnvelope): string {
  if (isOf(event, 'user.clarify_result')) return event.payload.answer;
  if (!isOf(event, 'user.approval_response')) return '';
  const { result, scope, message } = event.payload;
  if (result === 'deny') return message === undefined ? t('Denied') : t('Denied: {reason}', { reason: message });
  return t(SCOPES[scope ?? 'once'] ?? 'Allowed');
}

function Answered({ event }: { event: EventEnvelope }) {
  const text = describeAnswer(event);
  const { actor, answeredBy } = event as EventEnvelope & By;
  const name = actor?.name ?? answeredBy?.name;
  return (
    <p className="meta ask-answered">
      <MarkedText text={name === undefined || name === null ? text : t('{what} by {name}', { what: text, name })} />,{' '}
      {formatTime(event.createdAt)}
    </p>
  );
}

function isOpenAsk(event: EventEnvelope, session: Session): boolean {
  return session.pendingActions.some((action) => action.eventId === event.id);
}

/** A call that needs a person: the form while it is open, one line afterwards. */
export function Approval({ event, answer, session, isFirstOpen }: Props<'agent.approval_request'>) {
  const now = useNow();
  const request = event.payload;
  const isOpen = answer === undefined && isOpenAsk(event, session);
  const name =
    request.mcp_server_name === null ? request.tool_name : `${request.mcp_server_name} > ${request.tool_name}`;
  return (
    <div className={isOpen ? 'ask-card ask-card-open' : 'ask-card'}>
      <p className="ask-card-head">
        <CircleAlert size={14} aria-hidden="true" />
        <strong>
          <MarkedText text={name} />
        </strong>
        <span className="meta">
          {isOpen ? t('waits for {age}', { age: formatAge(event.createdAt, now) }) : t('approval')}
        </span>
      </p>
      {isOpen ? <Input input={request.input} /> : null}
      {isOpen ? (
        <AnswerForm
          hasKeys={isFirstOpen}
          ask={{
            id: event.id,
            type: 'approval',
            sessionId: session.id,
            agentName: session.agentName ?? session.agentId,
            subjectId: session.subjectId,
            toolName: request.tool_name,
            scopes: request.scopes,
            choices: [],
          }}
        />
      ) : null}
      {answer === undefined ? null : <Answered event={answer} />}
      {answer === undefined && !isOpen ? <p className="meta">{t('No longer open.')}</p> : null}
    </div>
  );
}

export function Clarification({ event, answer, session, isFirstOpen }: Props<'agent.clarify_request'>) {
  const { question, choices } = event.payload;
  const isOpen = answer === undefined && isOpenAsk(event, session);
  return (
    <div className={isOpen ? 'ask-card ask-card-open' : 'ask-card'}>
      <p className="ask-card-head">
        <CircleHelp size={14} aria-hidden="true" />
        <strong>{t('Question')}</strong>
      </p>
      <Markdown text={question} />
      {isOpen ? (
        <AnswerForm
          hasKeys={isFirstOpen}
          ask={{
            id: event.id,
            type: 'clarify',
            sessionId: session.id,
            agentName: session.agentName ?? session.agentId,
            subjectId: session.subjectId,
            toolName: '',
            scopes: [],
            choices: choices ?? [],
          }}
        />
      ) : null}
      {answer === undefined ? null : <Answered event={answer} />}
    </div>
  );
}
