// Tests: test/console/operate.test.ts
import { useQuery } from '@tanstack/react-query';
import { get } from '../data/http.ts';
import { listAll, useAllAgents, useCan } from '../data/queries.ts';
import type { ApiKey, CursorPage, Session } from '../data/types.ts';
import { t } from '../i18n/t.ts';
import { NO_NAME } from '../text/usage.ts';
import type { By } from '../text/usage.ts';

/** Labels for missing values: tool calls and logins have no model, gateway calls no agent. */
const WITHOUT: Record<By, string> = {
  model: 'Without a model',
  key: 'Without a key',
  agent: 'Without an agent',
  subject: 'Without a subject',
  session: 'Without a session',
  automation: 'Without an automation',
  user: 'Without a person',
  product: 'Without a product',
};

const MAX_KEY_PAGES = 20;
const ALL_STATES = 'idle,running,waiting_on_human,archived';

/**
 * Agents are shown by name, keys to those who may list them, and the hundred costliest sessions by title; all others by
 * their id.
 */
export function useNames(by: By): (name: string) => string {
  const agents = useAllAgents();
  const canList = useCan('admin');
  const canRead = useCan('agents:read');
  const keys = useQuery({
    queryKey: ['api-keys'],
    queryFn: ({ signal }) => listAll<ApiKey>('v1/api-keys', MAX_KEY_PAGES, signal),
    enabled: canList && by === 'key',
  });
  const sessions = useQuery({
    queryKey: ['sessions', 'costliest'],
    queryFn: ({ signal }) =>
      get<CursorPage<Session>>('v1/sessions', { order: 'cost', limit: 100, status: ALL_STATES }, signal),
    enabled: canRead && by === 'session',
    staleTime: 60_000,
  });
  const titles = sessions.data?.data.map(({ id, title }) => ({ id, name: title ?? id }));
  const known = { key: keys.data, agent: agents, session: titles }[by === 'key' || by === 'session' ? by : 'agent'];
  const names = new Map((known ?? []).map(({ id, name }) => [id, name]));
  return (name) => (name === NO_NAME ? t(WITHOUT[by]) : (names.get(name) ?? name));
}
