import { Link } from '@tanstack/react-router';
import { useQuery } from '@tanstack/react-query';
import { failedAnswer } from '../data/answer.ts';
import { get } from '../data/http.ts';
import { isOf, isToolUse, textOf } from '../data/events.ts';
import type { EventEnvelope } from '../data/events.ts';
import type { PendingAction } from '../data/types.ts';
import { useNow } from '../data/use-now.ts';
import { t } from '../i18n/t.ts';
import { JsonView } from '../parts/json-view.tsx';
import { Markdown } from '../parts/markdown.tsx';
import { MarkedText } from '../parts/marked-text.tsx';
import { Input } from '../session/rows/tool-call.tsx';
import { nameTool, summarizeInput } from '../session/rows/tool-summary.ts';
import { formatAge, formatDateTime } from '../text/format.ts';
import { AnswerForm } from './answer-form.tsx';

const BEFORE = 12;
const SHOWN = 3;

export function describePendingAction(action: PendingAction): string {
  if (action.type === 'clarify') return action.question ?? t('Question');
  return action.mcpServerName === null || action.mcpServerName === undefined
    ? (action.toolName ?? t('Tool'))
    : `${action.mcpServerName} > ${action.toolName ?? ''}`;
}

function describeEvent(event: EventEnvelope): string | undefined {
  if (isOf(event, 'user.message', 'agent.message')) return textOf(event.payload).slice(0, 600);
  if (!isToolUse(event)) return undefined;
  return `${nameTool(event.payload)} ${summarizeInput(event.payload.input)}`;
}

/** The last messages and calls before the pending action. */
function Before({ action }: { action: PendingAction }) {
  const { data } = useQuery({
    queryKey: ['before', action.id],
    queryFn: ({ signal }) =>
      get<{ data: EventEnvelope[] }>(
        `v1/sessions/${encodeURIComponent(action.sessionId)}/events`,
        { after: Math.max(0, (action.sequence ?? 0) - 1 - BEFORE), limit: BEFORE, attachments: 'omit' },
        signal,
      ),
    staleTime: Infinity,
  });
  const lines = (data?.data ?? [])
    .filter((event) => event.sequence < (action.sequence ?? 0))
    .flatMap((event) => {
      const text = describeEvent(event);
      return text === undefined || text === '' ? [] : [{ event, text }];
    })
    .slice(-SHOWN);
  if (lines.length === 0) return null;
  return (
    <section aria-label={t('Before')}>
      <h3>{t('Before')}</h3>
      <ol className="before">
        {lines.map(({ event, text }) => (
          <li key={event.id}>
            <span className="meta">
              {event.type.startsWith('user.') ? action.subjectId : (action.agentName ?? t('agent'))}
            </span>
            <MarkedText text={text} />
          </li>
        ))}
      </ol>
    </section>
  );
}

function Content({ action }: { action: PendingAction }) {
  if (action.type === 'clarify') {
    return (
      <div className="ask-question">
        <Markdown text={action.question ?? ''} />
      </div>
    );
  }
  if (action.input === null || action.input === undefined) return <JsonView value={action} />;
  return (
    <>
      <Input input={action.input} />
      {action.inputTruncated ? (
        <p className="note note-waiting">
          {t('The input is longer than 64 KiB and shown in part. Open the session to read all of it.')}
        </p>
      ) : null}
    </>
  );
}

function Outcome({ action }: { action: PendingAction }) {
  const by = action.answeredBy?.name ?? action.answeredBy?.id;
  return (
    <p className="note">
      {action.state === 'answered' && by !== undefined
        ? t('Answered by {name}, {at}', {
            name: by,
            at: action.answeredAt === null ? '' : formatDateTime(action.answeredAt),
          })
        : t('State: {state}', { state: action.state })}
    </p>
  );
}

/** One pending action with everything that a person needs to decide. */
export function PendingActionCard({ action, onAnswered }: { action: PendingAction; onAnswered: () => void }) {
  const now = useNow();
  const agentName = action.agentName ?? action.agentId;
  return (
    <article className="ask" aria-labelledby="ask-title">
      <header className="ask-head">
        <h2 id="ask-title">
          <MarkedText text={action.type === 'clarify' ? t('Question') : describePendingAction(action)} />
        </h2>
        <p className="meta">
          {t('{agent} for {subject}, {age} ago', {
            agent: `${agentName}@${action.agentVersion}`,
            subject: action.subjectId,
            age: formatAge(action.createdAt, now),
          })}
          {' · '}
          <Link to="/sessions/$sessionId" params={{ sessionId: action.sessionId }} search={{ event: action.id }}>
            {action.sessionTitle ?? t('Open the session')}
          </Link>
        </p>
        {action.expiresAt === null ? null : (
          <p className="meta">{t('Expires {at}', { at: formatDateTime(action.expiresAt) })}</p>
        )}
      </header>
      <Content action={action} />
      {action.state === 'pending' ? (
        <AnswerForm
          key={action.id}
          hasKeys
          onAnswered={() => {
            failedAnswer.set(undefined);
            onAnswered();
          }}
          onFailed={(error) => failedAnswer.set({ title: describePendingAction(action), error })}
          ask={{
            id: action.id,
            type: action.type,
            toolUseId: action.toolUseId ?? undefined,
            sessionId: action.sessionId,
            agentName,
            subjectId: action.subjectId,
            toolName: action.toolName ?? '',
            scopes: action.scopes ?? ['once'],
            choices: action.choices ?? [],
          }}
        />
      ) : (
        <Outcome action={action} />
      )}
      <Before action={action} />
    </article>
  );
}
