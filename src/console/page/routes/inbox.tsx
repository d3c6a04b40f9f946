import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { ArrowLeft, CircleAlert, CircleHelp, Wrench } from 'lucide-react';
import type { LucideIcon } from 'lucide-react';
import { useEffect } from 'react';
import { failedAnswer } from '../data/answer.ts';
import type { Query } from '../data/http.ts';
import { useAllAgents, usePendingAction, usePendingActions } from '../data/queries.ts';
import type { PendingAction } from '../data/types.ts';
import { useStore } from '../data/store.ts';
import { useNow } from '../data/use-now.ts';
import { t } from '../i18n/t.ts';
import { PendingActionCard, describePendingAction } from '../inbox/pending-action-card.tsx';
import { Button } from '../parts/button.tsx';
import { ErrorNote } from '../parts/error-note.tsx';
import { Choice } from '../parts/field.tsx';
import { Empty, Skeleton } from '../parts/states.tsx';
import { useKeys } from '../shell/shortcuts.ts';
import { formatAge } from '../text/format.ts';
import { summarizeInput } from '../session/rows/tool-summary.ts';

type Search = { type?: string; agent?: string; subject?: string; state?: string };

const ICONS: Record<string, LucideIcon> = {
  approval: CircleAlert,
  clarify: CircleHelp,
  custom_tool: Wrench,
};
const WORDS: Record<string, string> = {
  approval: 'approval',
  clarify: 'question',
  custom_tool: 'tool',
};

function buildQuery({ type, agent, subject, state }: Search): Query {
  return { state: state ?? 'pending', type, agentId: agent, subjectId: subject };
}

function Item({ action, isSelected, search }: { action: PendingAction; isSelected: boolean; search: Search }) {
  const now = useNow();
  // A newer server may send other types.
  const Icon = ICONS[action.type] ?? CircleHelp;
  return (
    <li>
      <Link
        to="/inbox/$eventId"
        params={{ eventId: action.id }}
        search={search}
        className="ask-row"
        aria-current={isSelected ? 'true' : undefined}
      >
        <Icon size={16} aria-hidden="true" className="ask-icon" />
        <span className="visually-hidden">{t(WORDS[action.type] ?? action.type)}</span>
        <span className="ask-row-title">{describePendingAction(action)}</span>
        <span className="ask-row-age">{formatAge(action.createdAt, now)}</span>
        <span className="ask-row-note">
          {summarizeInput(action.input) || (action.sessionTitle ?? '')} · {action.subjectId}
        </span>
      </Link>
    </li>
  );
}

function Filters({ search }: { search: Search }) {
  const navigate = useNavigate();
  const agents = useAllAgents();
  const change = (next: Search) => {
    const entries = Object.entries({ ...search, ...next }).filter(([, value]) => value !== '');
    void navigate({ to: '/inbox', search: Object.fromEntries(entries) });
  };
  return (
    <div className="filters" role="group" aria-label={t('Filters')}>
      <Choice
        isInline
        label={t('Agent')}
        value={search.agent ?? ''}
        options={[['', t('Any agent')], ...agents.map((agent) => [agent.id, agent.name] as const)]}
        onChange={(agent) => change({ agent })}
      />
      <Choice
        isInline
        label={t('Type')}
        value={search.type ?? ''}
        options={[
          ['', t('Any type')],
          ['approval', t('Approvals')],
          ['clarify', t('Questions')],
          ['custom_tool', t('Tool calls')],
        ]}
        onChange={(type) => change({ type })}
      />
      <Choice
        isInline
        label={t('State')}
        value={search.state ?? ''}
        options={[
          ['', t('Open')],
          ['answered', t('Answered')],
          ['expired', t('Expired')],
          ['cancelled', t('Cancelled')],
        ]}
        onChange={(state) => change({ state })}
      />
    </div>
  );
}

/** A pending action that the address names and the list lacks, such as an answered one. */
function SingleAsk({ id, onAnswered }: { id: string; onAnswered: () => void }) {
  const action = usePendingAction(id);
  if (action.error !== null) return <ErrorNote error={action.error} onRetry={() => void action.refetch()} />;
  return action.data === undefined ? (
    <Skeleton rows={1} height={160} />
  ) : (
    <PendingActionCard action={action.data} onAnswered={onAnswered} />
  );
}

function useMoves(rows: readonly PendingAction[], current: string | undefined, search: Search) {
  const navigate = useNavigate();
  const index = rows.findIndex((row) => row.id === current);
  const open = (row: PendingAction | undefined) => {
    if (row !== undefined) void navigate({ to: '/inbox/$eventId', params: { eventId: row.id }, search, replace: true });
    else void navigate({ to: '/inbox', search, replace: true });
  };
  useKeys({
    j: () => open(rows[Math.min(rows.length - 1, index + 1)]),
    k: () => open(rows[Math.max(0, index - 1)]),
    e: () => {
      const row = rows[index];
      if (row !== undefined)
        void navigate({ to: '/sessions/$sessionId', params: { sessionId: row.sessionId }, search: { event: row.id } });
    },
    Escape: () => void navigate({ to: '/inbox', search }),
  });
  /** The next action, or the previous one after the last. */
  return { openNext: () => open(rows[index + 1] ?? rows[index - 1]) };
}

type NotesProps = { actions: ReturnType<typeof usePendingActions>; isEmpty: boolean; isFiltered: boolean };

function Notes({ actions, isEmpty, isFiltered }: NotesProps) {
  if (actions.error !== null) return <ErrorNote error={actions.error} onRetry={() => void actions.refetch()} />;
  if (actions.isPending) return <Skeleton />;
  if (!isEmpty) return null;
  return (
    <Empty text={isFiltered ? t('Nothing matches.') : t('Nothing waits.')}>
      <Link to="/sessions" className="button">
        {t('All sessions')}
      </Link>
    </Empty>
  );
}

/** Names the answer that did not arrive: its card has left the screen. */
function FailedAnswer() {
  const failed = useStore(failedAnswer);
  // Whoever returns to the inbox later finds the action in the list.
  useEffect(() => () => void (location.pathname.includes('/inbox') || failedAnswer.set(undefined)), []);
  if (failed === undefined) return null;
  const { title, error } = failed;
  return (
    <section aria-label={t('Answer not sent')}>
      <h2>{t('Your answer to {title} was not accepted', { title })}</h2>
      <ErrorNote error={error} onDismiss={() => failedAnswer.set(undefined)} />
    </section>
  );
}

/** Pending actions of all sessions, oldest first. */
export function InboxPage() {
  const { eventId } = useParams({ strict: false });
  const search: Search = useSearch({ strict: false });
  const actions = usePendingActions(buildQuery(search));
  const rows = (actions.data?.pages ?? []).flatMap(({ data }) => data);
  const isWide = globalThis.matchMedia('(min-width: 768px)').matches;
  const current = eventId ?? (isWide ? rows[0]?.id : undefined);
  const selected = rows.find((row) => row.id === current);
  const { openNext } = useMoves(rows, current, search);
  useEffect(() => {
    document.querySelector('.ask-row[aria-current]')?.scrollIntoView({ block: 'nearest' });
  }, [current]);
  return (
    <div className={`page inbox ${eventId === undefined ? 'inbox-list-only' : 'inbox-open'}`}>
      <header className="page-head">
        <h1>{t('Inbox')}</h1>
        <Filters search={search} />
      </header>
      <Notes
        actions={actions}
        isEmpty={rows.length === 0 && eventId === undefined}
        isFiltered={Object.keys(search).length > 0}
      />
      <FailedAnswer />
      <div className="inbox-columns">
        {rows.length === 0 ? null : (
          <div className="inbox-list">
            <ul aria-label={t('Open actions')}>
              {rows.map((action) => (
                <Item key={action.id} action={action} isSelected={action.id === current} search={search} />
              ))}
            </ul>
            {actions.hasNextPage ? (
              <Button onClick={() => void actions.fetchNextPage()}>{t('Load more')}</Button>
            ) : null}
          </div>
        )}
        {current === undefined ? null : (
          <div className="inbox-detail">
            <Link to="/inbox" search={search} className="button button-quiet inbox-back">
              <ArrowLeft size={16} aria-hidden="true" /> {t('Inbox')}
            </Link>
            {selected === undefined ? (
              <SingleAsk id={current} onAnswered={openNext} />
            ) : (
              <PendingActionCard action={selected} onAnswered={openNext} />
            )}
          </div>
        )}
      </div>
    </div>
  );
}
