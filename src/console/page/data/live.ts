import type { InfiniteData, QueryClient } from '@tanstack/react-query';
import { announce } from './announce.ts';
import { buildStore } from './store.ts';
import { followStream } from './stream.ts';
import type { CursorPage, Session } from './types.ts';
import { t } from '../i18n/t.ts';

/** Messages of the organization's stream: they announce changes, never content. */
export type Change = {
  id: string;
  type: string;
  sessionId: string | null;
  agentId: string | null;
  subjectId: string | null;
  sequence: number | null;
  session?: {
    status?: string;
    title?: string | null;
    openActions?: number;
    costUsd?: number | null;
    lastActivityAt?: string;
  };
};

/** `polling`: the server has no such stream, so lists poll every ten seconds. */
export const liveState = buildStore<'connecting' | 'live' | 'polling'>('connecting');

const LOCK = 'capstan.live';
const REFRESH_MS = 1000;
const ASKS = new Set(['agent.approval_request', 'agent.clarify_request', 'agent.custom_tool_use']);
const CHANGES_ASKS = new Set([
  ...ASKS,
  'user.approval_response',
  'user.clarify_result',
  'user.custom_tool_result',
  'session.archived',
  'session.deleted',
]);
const CHANGES_LISTS = new Set([
  'session.status_running',
  'session.status_idle',
  'session.created',
  'session.archived',
  'session.deleted',
  'user.message',
]);

type SessionPages = InfiniteData<CursorPage<Session>>;

function patchSession(session: Session, { session: change }: Change): Session {
  if (change === undefined) return session;
  const { status, title, openActions, costUsd, lastActivityAt } = change;
  return {
    ...session,
    ...(status === undefined ? {} : { status: status as Session['status'] }),
    ...(title === undefined ? {} : { title }),
    ...(openActions === undefined ? {} : { openActions }),
    ...(lastActivityAt === undefined ? {} : { lastActivityAt }),
    ...(typeof costUsd === 'number' ? { usage: { ...session.usage, cost_usd: costUsd } } : {}),
  };
}

/** Patches rows at once. Fields that the stream does not carry are fetched, at most once a second. */
function buildPatcher(queries: QueryClient): (change: Change) => void {
  const due = new Set<string>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const refresh = (...keys: string[]) => {
    for (const key of keys) due.add(key);
    timer ??= setTimeout(() => {
      timer = undefined;
      for (const key of due) void queries.invalidateQueries({ queryKey: [key] });
      due.clear();
    }, REFRESH_MS);
  };
  return (change) => {
    if (change.type === 'reset') return refresh('sessions', 'session', 'pending-actions');
    queries.setQueriesData<SessionPages>({ queryKey: ['sessions'] }, (old) =>
      old === undefined
        ? old
        : {
            ...old,
            pages: old.pages.map((page) => ({
              ...page,
              data: page.data.map((each) => (each.id === change.sessionId ? patchSession(each, change) : each)),
            })),
          },
    );
    if (CHANGES_ASKS.has(change.type)) refresh('pending-actions');
    if (CHANGES_LISTS.has(change.type)) refresh('sessions');
    if (ASKS.has(change.type)) announce(t('A session waits for an answer.'));
  };
}

/** A message without a type is the server's `reset`: messages were missed, so everything is fetched again. */
function readChange(data: string): Change | undefined {
  try {
    const change = JSON.parse(data) as Partial<Change>;
    return { ...RESET, ...change };
  } catch {
    return undefined;
  }
}

/** One stream per browser: the tab that holds the lock reads it and forwards messages to the others. */
export function startLive(queries: QueryClient): () => void {
  const stop = new AbortController();
  const channel = new BroadcastChannel(LOCK);
  const patch = buildPatcher(queries);
  channel.addEventListener('message', (event: MessageEvent<Change | { state: 'live' | 'polling' }>) => {
    if ('state' in event.data) liveState.set(event.data.state);
    else patch(event.data);
  });
  const lead = () =>
    followStream({
      path: 'v1/events/stream',
      query: () => ({}),
      signal: stop.signal,
      onState: (state) => {
        const next = state === 'connected' ? 'live' : 'polling';
        if (state === 'connected' && liveState.get() === 'polling') patch({ ...RESET });
        liveState.set(next);
        channel.postMessage({ state: next });
      },
      onMessage: (data) => {
        const change = readChange(data);
        if (change === undefined) return;
        patch(change);
        channel.postMessage(change);
      },
    }).then(() => holdUntil(stop.signal));
  void navigator.locks?.request(LOCK, { signal: stop.signal }, lead).catch(() => undefined);
  return () => {
    stop.abort();
    channel.close();
  };
}

const RESET: Change = { id: '', type: 'reset', sessionId: null, agentId: null, subjectId: null, sequence: null };

/** The lock stays with this tab, so that others do not request a stream that does not exist. */
function holdUntil(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener('abort', () => resolve());
  });
}
