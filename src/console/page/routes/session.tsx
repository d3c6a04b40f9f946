import { Link, getRouteApi } from '@tanstack/react-router';
import { useQuery } from '@tanstack/react-query';
import { ArrowLeft } from 'lucide-react';
import { useEffect, useState } from 'react';
import { get, isStatus } from '../data/http.ts';
import type { EventEnvelope } from '../data/events.ts';
import { useSession } from '../data/queries.ts';
import type { Session } from '../data/types.ts';
import { useTitle } from '../data/use-title.ts';
import { t } from '../i18n/t.ts';
import { ErrorNote } from '../parts/error-note.tsx';
import { Empty, Skeleton } from '../parts/states.tsx';
import { Status, findStatus } from '../parts/status.tsx';
import { readFilter } from '../session/matches.tsx';
import { SessionView } from '../session/session-view.tsx';
import type { View } from '../session/session-view.tsx';
import { formatMoney } from '../text/money.ts';

const route = getRouteApi('/sessions/$sessionId');
const VIEWS: readonly (readonly [View, string])[] = [
  ['transcript', 'Transcript'],
  ['timeline', 'Timeline'],
  ['raw', 'Raw'],
];

function readView(value: string | undefined): View {
  return value === 'timeline' || value === 'raw' ? value : 'transcript';
}

/** The sequence of the event in the address. */
function useTarget(sessionId: string, eventId: string | undefined) {
  const [target, setTarget] = useState<number>();
  const event = useQuery({
    queryKey: ['event', sessionId, eventId],
    queryFn: ({ signal }) =>
      get<EventEnvelope>(
        `v1/sessions/${encodeURIComponent(sessionId)}/events/${encodeURIComponent(eventId ?? '')}`,
        {},
        signal,
      ),
    enabled: eventId !== undefined,
    staleTime: Infinity,
  });
  const sequence = event.data?.sequence;
  useEffect(() => {
    if (sequence !== undefined) setTarget(sequence);
  }, [sequence]);
  return [target, setTarget] as const;
}

function Head({ session, view }: { session: Session; view: View }) {
  useTitle(session.title ?? t('Session'));
  return (
    <header className="session-head">
      <Link to="/sessions" className="icon-button" aria-label={t('All sessions')}>
        <ArrowLeft size={16} aria-hidden="true" />
      </Link>
      <h1>{session.title ?? t('Untitled')}</h1>
      <Status kind={findStatus(session)} />
      <span className="session-head-meta">
        {session.agentName ?? session.agentId}@{session.agentVersion} · {session.subjectId} ·{' '}
        {formatMoney(session.usage?.cost_usd)}
      </span>
      <nav className="tabs" aria-label={t('Views')}>
        {VIEWS.map(([name, text]) => (
          <Link
            key={name}
            to="/sessions/$sessionId"
            params={{ sessionId: session.id }}
            search={{ view: name }}
            activeOptions={{ includeSearch: true }}
            aria-current={view === name ? 'page' : undefined}
          >
            {t(text)}
          </Link>
        ))}
      </nav>
    </header>
  );
}

export function SessionPage() {
  const { sessionId } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const session = useSession(sessionId);
  const view = readView(search.view);
  const filter = readFilter(search.find, search.types);
  const [target, setTarget] = useTarget(sessionId, search.event);
  if (isStatus(session.error, 404)) {
    return (
      <Empty text={t('This session does not exist.')}>
        <Link to="/sessions">{t('All sessions')}</Link>
      </Empty>
    );
  }
  if (session.error !== null && session.data === undefined) {
    return <ErrorNote error={session.error} onRetry={() => void session.refetch()} />;
  }
  if (session.data === undefined) return <Skeleton />;
  const seek = (sequence: number) => {
    setTarget(sequence);
    if (view === 'timeline') void navigate({ search: {} });
  };
  return (
    <div className="session-page">
      <Head session={session.data} view={view} />
      <SessionView
        key={sessionId}
        session={session.data}
        view={view}
        target={target}
        onTarget={seek}
        hasDetails
        filter={filter}
        onFilter={({ find, kind }) =>
          void navigate({ search: { ...(find === '' ? {} : { find }), ...(kind === '' ? {} : { types: kind }) } })
        }
        // A found event is shown in the transcript, and Back leads to the search results.
        onSelect={(event) =>
          void navigate({
            search: ({ view: shown }) => ({ ...(shown === undefined ? {} : { view: shown }), event: event.id }),
            replace: filter.find === '' && filter.kind === '',
          })
        }
      />
    </div>
  );
}
