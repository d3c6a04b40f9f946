import { useEffect, useMemo, useState, useSyncExternalStore } from 'react';
import type { EventEnvelope } from '../data/events.ts';
import { fetchLatestEvents, queries } from '../data/queries.ts';
import { withStreamSlot } from '../data/stream-slot.ts';
import { followStream, pause } from '../data/stream.ts';
import type { Session } from '../data/types.ts';
import { TranscriptStore } from './transcript-store.ts';

/** The stream of a hidden tab closes after this time, because browsers open at most six connections per server. */
const HIDDEN_MS = 60_000;
/** A tab for which no stream is left asks this often. */
const POLL_MS = 2000;
const CHANGES_SESSION = new Set([
  'session.status_idle',
  'session.status_running',
  'session.title_updated',
  'agent.approval_request',
  'agent.clarify_request',
  'user.approval_response',
  'user.clarify_result',
]);

function onEvent({ type, sessionId }: EventEnvelope): void {
  if (!CHANGES_SESSION.has(type)) return;
  void queries.invalidateQueries({ queryKey: ['session', sessionId] });
  if (type === 'session.status_idle') void queries.invalidateQueries({ queryKey: ['turns', sessionId] });
}

/** Whether this tab was visible within the last minute. */
function useVisible(): boolean {
  const [isVisible, setVisible] = useState(!document.hidden);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const onChange = () => {
      clearTimeout(timer);
      if (document.hidden) timer = setTimeout(() => setVisible(false), HIDDEN_MS);
      else setVisible(true);
    };
    document.addEventListener('visibilitychange', onChange);
    return () => {
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', onChange);
    };
  }, []);
  return isVisible;
}

/** The events of a session, updated live while the tab is visible. */
export function useTranscript(session: Session): { store: TranscriptStore; version: number; state: string } {
  const { id, lastSequence } = session;
  // eslint-disable-next-line react-hooks/exhaustive-deps
  const store = useMemo(() => new TranscriptStore(id, lastSequence, onEvent), [id]);
  useEffect(() => store.begin(fetchLatestEvents(id)), [id, store]);
  const version = useSyncExternalStore(store.subscribe, store.getVersion);
  const [state, setState] = useState('connecting');
  const isVisible = useVisible();
  useEffect(() => {
    if (!isVisible) return undefined;
    const stop = new AbortController();
    const { signal } = stop;
    const stream = () =>
      followStream({
        path: `v1/sessions/${encodeURIComponent(id)}/events/stream`,
        query: () => ({ after: store.lastSequence }),
        signal,
        onState: setState,
        onMessage: (data) => store.accept(JSON.parse(data) as EventEnvelope),
      });
    const follow = async () => {
      while (!signal.aborted && !(await withStreamSlot(stream))) {
        setState(await store.catchUp());
        await pause(POLL_MS, signal);
      }
    };
    void follow();
    return () => stop.abort();
  }, [id, store, isVisible]);
  return { store, version, state };
}
