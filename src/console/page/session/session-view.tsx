import { useCallback, useDeferredValue, useState } from 'react';
import type { ComponentProps, ReactNode } from 'react';
import { isStatus } from '../data/http.ts';
import type { EventEnvelope } from '../data/events.ts';
import { useTurns } from '../data/queries.ts';
import { usePainted } from '../data/use-painted.ts';
import type { Session } from '../data/types.ts';
import { t } from '../i18n/t.ts';
import { Boundary } from '../parts/boundary.tsx';
import { Empty } from '../parts/states.tsx';
import { Composer } from './composer.tsx';
import { Details } from './details.tsx';
import { FindBar, Matches } from './matches.tsx';
import type { Filter } from './matches.tsx';
import { Minimap } from './minimap.tsx';
import { Raw } from './raw.tsx';
import { Timeline } from './timeline.tsx';
import { Transcript } from './transcript.tsx';
import { useTranscript } from './use-transcript.ts';

export type View = 'transcript' | 'timeline' | 'raw';

type Props = {
  session: Session;
  view: View;
  /** a sequence to scroll to */
  target: number | undefined;
  onTarget: (sequence: number) => void;
  hasDetails: boolean;
  onSelect?: ((event: EventEnvelope) => void) | undefined;
  /** absent: the transcript has no search */
  filter?: Filter;
  onFilter?: (filter: Filter) => void;
};

type SearchProps = {
  filter: Filter | undefined;
  sessionId: string;
  onOpen: (event: EventEnvelope) => void;
  children: ReactNode;
};

/** Search results, shown instead of the transcript. */
function Search({ filter, sessionId, onOpen, children }: SearchProps) {
  const isActive = filter !== undefined && (filter.find !== '' || filter.kind !== '');
  return !isActive ? children : <Matches sessionId={sessionId} filter={filter} onOpen={onOpen} />;
}

type BarProps = {
  isShown: boolean;
  filter: Filter | undefined;
  onFilter: ((filter: Filter) => void) | undefined;
};

function Bar({ isShown, filter, onFilter }: BarProps) {
  return !isShown || filter === undefined || onFilter === undefined ? null : (
    <FindBar filter={filter} onChange={onFilter} />
  );
}

/** The minimap, or its place until the first rows are painted. */
function MinimapPlace({ isShown, ...rest }: ComponentProps<typeof Minimap> & { isShown: boolean }) {
  return isShown ? <Minimap {...rest} /> : <div className="minimap" />;
}

/** A live session: its views, and the form for messages. */
export function SessionView({ session, view, target, onTarget, hasDetails, onSelect, filter, onFilter }: Props) {
  const { store, version, state } = useTranscript(session);
  const turns = useTurns(session.id);
  const isPainted = usePainted();
  const [range, setRange] = useState<readonly [number, number]>([1, 1]);
  const [selected, setSelected] = useState<EventEnvelope>();
  const onRange = useCallback((first: number, last: number) => {
    setRange((old) => (old[0] === first && old[1] === last ? old : [first, last]));
  }, []);
  const select = (event: EventEnvelope) => {
    setSelected(event);
    onSelect?.(event);
  };
  // Deferred: the first rows are rendered in many short tasks.
  const isReady = useDeferredValue(store.hasBegun, false);
  const isEmpty = store.lastSequence === 0 && store.live.size === 0;
  const hasFind = view === 'transcript' && !isEmpty;
  const open = (event: EventEnvelope) => {
    select(event);
    onTarget(event.sequence);
  };
  return (
    <div className={hasDetails ? 'session-columns' : 'session-columns session-narrow'}>
      <div className="session-main">
        {state === 'reconnecting' ? (
          <p className="connection" role="status">
            {t('The connection broke off; connecting again …')}
          </p>
        ) : null}
        <Bar isShown={hasFind} filter={filter} onFilter={onFilter} />
        {isEmpty ? null : (
          <MinimapPlace isShown={isPainted} store={store} version={version} range={range} onSeek={onTarget} />
        )}
        <Boundary>
          {isEmpty ? <Empty text={t('Nothing has been said yet. Write the first message below.')} /> : null}
          {view === 'transcript' && !isEmpty ? (
            <Search filter={filter} sessionId={session.id} onOpen={open}>
              {isReady ? (
                <Transcript
                  store={store}
                  version={version}
                  session={session}
                  turns={isStatus(turns.error, 404) ? undefined : turns.data}
                  target={target}
                  onRange={onRange}
                  onSelect={select}
                />
              ) : (
                <div className="transcript" />
              )}
            </Search>
          ) : null}
          {view === 'timeline' ? <Timeline sessionId={session.id} onSeek={onTarget} /> : null}
          {view === 'raw' ? <Raw store={store} version={version} /> : null}
        </Boundary>
        <Composer session={session} />
      </div>
      {hasDetails && isPainted ? (
        <Details session={session} store={store} version={version} selected={selected} />
      ) : null}
    </div>
  );
}
