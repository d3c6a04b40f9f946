import { Link, getRouteApi, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useCan, useSessions } from '../data/queries.ts';
import type { Session } from '../data/types.ts';
import { StopTurn } from '../session/stop-turn.tsx';
import { useStableRows } from '../data/use-stable-rows.ts';
import { useNow } from '../data/use-now.ts';
import { t, tCount } from '../i18n/t.ts';
import { Button } from '../parts/button.tsx';
import { ErrorNote } from '../parts/error-note.tsx';
import { Empty, Skeleton } from '../parts/states.tsx';
import { Status, findStatus } from '../parts/status.tsx';
import { SessionFilters, buildQuery } from '../sessions/filters.tsx';
import type { Search } from '../sessions/filters.tsx';
import { useKeys } from '../shell/shortcuts.ts';
import { formatAge, formatDateTime, formatDuration } from '../text/format.ts';
import { formatMoney } from '../text/money.ts';

const route = getRouteApi('/sessions');

function describeNotice(session: Session): string {
  const stop = session.lastStopReason;
  if (stop?.type === 'error') return stop.code;
  if (session.waiting !== null && session.waiting !== undefined) return session.waiting.code;
  const open = session.openActions ?? session.pendingActions.length;
  return open === 0 ? '' : tCount(open, '{count} to answer', '{count} to answer');
}

function Row({ session, now, isSelected }: { session: Session; now: number; isSelected: boolean }) {
  const kind = findStatus(session);
  const started = session.turnStartedAt ?? undefined;
  const runs = kind === 'running' || kind === 'stuck';
  return (
    <tr className={`row row-${kind}`} aria-selected={isSelected} data-id={session.id}>
      <td>
        <Status kind={kind} />
      </td>
      <td className="cell-title">
        <Link to="/sessions/$sessionId" params={{ sessionId: session.id }}>
          {session.title ?? t('Untitled')}
        </Link>
      </td>
      <td className="cell-agent">
        {session.agentName ?? session.agentId}
        <span className="meta">@{session.agentVersion}</span>
      </td>
      <td className="cell-subject">{session.subjectId}</td>
      <td className="cell-number cell-turn">
        {runs && started !== undefined ? formatDuration(now - Date.parse(started)) : ''}
      </td>
      <td className="cell-number" title={formatDateTime(session.lastActivityAt)}>
        {formatAge(session.lastActivityAt, now)}
      </td>
      <td className="cell-number cell-cost">{formatMoney(session.usage?.cost_usd)}</td>
      <td className="cell-notice">{runs ? <StopTurn sessionId={session.id} /> : describeNotice(session)}</td>
    </tr>
  );
}

function useRowKeys(rows: readonly Session[]) {
  const navigate = useNavigate();
  const [selected, setSelected] = useState(-1);
  const move = (step: number) => {
    const next = Math.max(0, Math.min(rows.length - 1, selected + step));
    setSelected(next);
    document.querySelector(`[data-id="${rows[next]?.id ?? ''}"]`)?.scrollIntoView({ block: 'nearest' });
  };
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    Enter: () => {
      const row = rows[selected];
      if (row !== undefined) void navigate({ to: '/sessions/$sessionId', params: { sessionId: row.id } });
    },
  });
  return rows[selected]?.id;
}

function Table({ rows }: { rows: readonly Session[] }) {
  const now = useNow(1000);
  const { shown, newCount, showNew, hold } = useStableRows(rows);
  const selected = useRowKeys(shown);
  return (
    <>
      {newCount > 0 ? (
        <Button className="new-rows" onClick={showNew}>
          {tCount(newCount, '{count} new', '{count} new')}
        </Button>
      ) : null}
      <div className="table-scroll">
        <table className="list sessions-table" {...hold}>
          <thead>
            <tr>
              {['Status', 'Title', 'Agent', 'Subject', 'Turn', 'Activity', 'Cost', 'Notice'].map((name) => (
                <th key={name} scope="col" className={`head-${name.toLowerCase()}`}>
                  {t(name)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((session) => (
              <Row key={session.id} session={session} now={now} isSelected={session.id === selected} />
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

function NoSessions({ isFiltered, onClear }: { isFiltered: boolean; onClear: () => void }) {
  const canWrite = useCan('agents:write');
  if (isFiltered) {
    return (
      <Empty text={t('No session matches.')}>
        <Button onClick={onClear}>{t('Clear the filters')}</Button>
      </Empty>
    );
  }
  return (
    <Empty text={t('There is no session yet.')}>
      {canWrite ? (
        <Link to="/playground" className="button button-primary">
          {t('Try an agent in the playground')}
        </Link>
      ) : null}
    </Empty>
  );
}

/** All sessions of the organization, filtered by the address. */
export function Sessions() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const sessions = useSessions(buildQuery(search));
  const rows = (sessions.data?.pages ?? []).flatMap(({ data }) => data);
  const change = (next: Search) => void navigate({ search: (old) => clean({ ...old, ...next }), replace: true });
  const isFiltered = Object.keys(search).length > 0;
  return (
    <div className="page">
      <header className="page-head">
        <h1>{t('Sessions')}</h1>
      </header>
      <SessionFilters search={search} onChange={change} />
      {sessions.error === null ? null : <ErrorNote error={sessions.error} onRetry={() => void sessions.refetch()} />}
      {sessions.isPending ? <Skeleton /> : null}
      {sessions.isSuccess && rows.length === 0 ? (
        <NoSessions isFiltered={isFiltered} onClear={() => void navigate({ search: {} })} />
      ) : null}
      {rows.length > 0 ? <Table rows={rows} /> : null}
      {sessions.hasNextPage ? (
        <Button onClick={() => void sessions.fetchNextPage()} disabled={sessions.isFetchingNextPage}>
          {sessions.isFetchingNextPage ? t('Loading…') : t('Load more')}
        </Button>
      ) : null}
    </div>
  );
}

function clean(search: Search): Search {
  return Object.fromEntries(Object.entries(search).filter(([, value]) => value !== ''));
}
