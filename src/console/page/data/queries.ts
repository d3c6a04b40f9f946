import { QueryClient, keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import type { Sandbox } from '../../../../clients/typescript/generated/sessions.ts';
import type { EventEnvelope } from './events.ts';
import { get, isTransient } from './http.ts';
import type { Query } from './http.ts';
import { liveState } from './live.ts';
import { useStore } from './store.ts';
import type { AuditRecord } from '../../../../clients/typescript/generated/audit.ts';
import type { Budget } from '../../../../clients/typescript/generated/budgets.ts';
import type { Automation } from '../../../../clients/typescript/generated/automations.ts';
import type { Agent, AgentVersion, Caller, CursorPage, Login, PendingAction, Session, Turn } from './types.ts';

const POLL_MS = 10_000;
/** A code has to be given within minutes. */
const LOGINS_POLL_MS = 3000;
const MAX_RETRIES = 3;
/** More rows than fit on a screen; a smaller page loads sooner. */
const LATEST = 50;
const NO_AGENTS: readonly Agent[] = [];

export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      retry: (failures, error) => isTransient(error) && failures < MAX_RETRIES,
      staleTime: 2000,
    },
  },
});

/** Lists poll while they are visible, until the organization's stream is open. */
function usePoll(): number | false {
  return useStore(liveState) === 'live' ? false : POLL_MS;
}

export function useCaller() {
  return useQuery({ queryKey: ['me'], queryFn: ({ signal }) => get<Caller>('v1/me', {}, signal), staleTime: 60_000 });
}

/** Whether the caller has a scope; false until it is known. */
export function useCan(scope: string): boolean {
  const { data } = useCaller();
  return data?.effectiveScopes.includes(scope) ?? false;
}

/** Whether the caller may answer pending actions. */
export function useCanAnswer(): boolean {
  const canWrite = useCan('agents:write');
  const canApprove = useCan('agents:approve');
  return canWrite || canApprove;
}

function useCursorList<T>(
  key: string,
  path: string,
  query: Query,
  options: { isLive?: boolean; enabled?: boolean; pollMs?: number } = {},
) {
  const poll = usePoll();
  return useInfiniteQuery({
    queryKey: [key, path, query],
    queryFn: ({ pageParam, signal }) => get<CursorPage<T>>(path, { limit: 50, ...query, ...pageParam }, signal),
    initialPageParam: {} as Query,
    getNextPageParam: ({ pagination, data }): Query | undefined => {
      if (!pagination.hasMore) return undefined;
      if (typeof pagination.nextCursor === 'string') return { cursor: pagination.nextCursor };
      return { offset: (pagination.offset ?? 0) + data.length };
    },
    enabled: options.enabled ?? true,
    placeholderData: keepPreviousData,
    ...(options.isLive === true ? { refetchInterval: poll } : {}),
    ...(options.pollMs === undefined ? {} : { refetchInterval: options.pollMs }),
  });
}

export function useSessions(query: Query) {
  return useCursorList<Session>('sessions', 'v1/sessions', query, { isLive: true });
}

export function usePendingActions(query: Query, enabled = true) {
  return useCursorList<PendingAction>('pending-actions', 'v1/pending-actions', query, { isLive: true, enabled });
}

export function usePendingAction(id: string) {
  return useQuery({
    queryKey: ['pending-actions', 'one', id],
    queryFn: ({ signal }) => get<PendingAction>(`v1/pending-actions/${encodeURIComponent(id)}`, {}, signal),
  });
}

const sessionQuery = (id: string) => ({
  queryKey: ['session', id],
  queryFn: ({ signal }: { signal: AbortSignal }) => get<Session>(`v1/sessions/${encodeURIComponent(id)}`, {}, signal),
});

export function useSession(id: string) {
  const poll = usePoll();
  return useQuery({ ...sessionQuery(id), refetchInterval: poll });
}

/** The latest events of a session, newest first. Requested in parallel with the session. */
const latestEvents = (id: string) => ({
  queryKey: ['latest-events', id],
  queryFn: ({ signal }: { signal: AbortSignal }) =>
    get<{ data: EventEnvelope[] }>(
      `v1/sessions/${encodeURIComponent(id)}/events`,
      { order: 'desc', limit: LATEST, attachments: 'omit' },
      signal,
    ),
  gcTime: 10_000,
});

/** Starts to load the first content of a session's page. */
export function prefetchSession(id: string): void {
  void queries.prefetchQuery(sessionQuery(id));
  void queries.prefetchQuery(latestEvents(id));
}

export async function fetchLatestEvents(id: string): Promise<EventEnvelope[]> {
  return (await queries.fetchQuery(latestEvents(id))).data;
}

export function useTurns(id: string) {
  return useQuery({
    queryKey: ['turns', id],
    queryFn: ({ signal }) => listAll<Turn>(`v1/sessions/${encodeURIComponent(id)}/turns`, 10, signal),
    retry: false,
  });
}

export function useAgents(query: Query = {}) {
  return useCursorList<Agent>('agents', 'v1/agents', query);
}

/** The agents of a choice, or of their names: up to 1,000. */
export function useAllAgents(): readonly Agent[] {
  const { data } = useQuery({
    queryKey: ['agents', 'all'],
    queryFn: ({ signal }) => listAll<Agent>('v1/agents', 10, signal),
    staleTime: 60_000,
  });
  return data ?? NO_AGENTS;
}

/** Of the whole organization, or of one agent. */
export function useAutomations(agentId?: string) {
  const path = agentId === undefined ? 'v1/automations' : `v1/agents/${encodeURIComponent(agentId)}/automations`;
  return useCursorList<Automation>('automations', path, {});
}

/** Where commands run now; asked for again while the page is open. */
export function useSandboxes() {
  return useCursorList<Sandbox>('sandboxes', 'v1/sandboxes', {}, { pollMs: POLL_MS });
}

/** Of the last seven days. */
export function useLogins() {
  return useCursorList<Login>('logins', 'api/logins', {}, { pollMs: LOGINS_POLL_MS });
}

export function useBudgets() {
  return useCursorList<Budget>('budgets', 'v1/budgets', {});
}

export function useAudit(query: Query) {
  return useCursorList<AuditRecord>('audit', 'v1/audit', query);
}

export function useAgent(id: string, enabled = true) {
  return useQuery({
    queryKey: ['agent', id],
    queryFn: ({ signal }) => get<Agent>(`v1/agents/${encodeURIComponent(id)}`, {}, signal),
    enabled,
  });
}

export function useVersions(id: string) {
  return useCursorList<AgentVersion>('versions', `v1/agents/${encodeURIComponent(id)}/versions`, {
    limit: 100,
  });
}

export function useVersion(id: string, version: number | undefined) {
  return useQuery({
    queryKey: ['version', id, version],
    queryFn: ({ signal }) =>
      get<AgentVersion & { tools: unknown[] }>(`v1/agents/${encodeURIComponent(id)}/versions/${version}`, {}, signal),
    enabled: version !== undefined,
    staleTime: Infinity,
  });
}

/** All pages of a list, in sequence, at most `maxPages`. */
export async function listAll<T>(path: string, maxPages: number, signal?: AbortSignal): Promise<T[]> {
  const all: T[] = [];
  let next: Query | undefined = {};
  for (let page = 0; page < maxPages && next !== undefined; page += 1) {
    const { data, pagination }: CursorPage<T> = await get<CursorPage<T>>(path, { limit: 100, ...next }, signal);
    all.push(...data);
    if (!pagination.hasMore) next = undefined;
    else next = typeof pagination.nextCursor === 'string' ? { cursor: pagination.nextCursor } : { offset: all.length };
  }
  return all;
}
