import { Link, getRouteApi } from '@tanstack/react-router';
import { useEffect } from 'react';
import { NewAgent } from '../agents/new-agent.tsx';
import { useAgents, useCan } from '../data/queries.ts';
import { useNow } from '../data/use-now.ts';
import { t } from '../i18n/t.ts';
import { Button } from '../parts/button.tsx';
import { ErrorNote } from '../parts/error-note.tsx';
import { Choice } from '../parts/field.tsx';
import { Empty, Skeleton } from '../parts/states.tsx';
import { Table } from '../parts/table.tsx';
import { formatAge, formatDateTime } from '../text/format.ts';

const route = getRouteApi('/agents');

function NoAgents() {
  const canWrite = useCan('agents:write');
  return (
    <Empty text={t('There is no agent yet. The model script/demo needs no key of a provider.')}>
      {canWrite ? (
        <Link to="/playground" className="button button-primary">
          {t('Make one in the playground')}
        </Link>
      ) : null}
    </Empty>
  );
}

/** The agents of the organization. */
export function Agents() {
  const { q = '', status = '' } = route.useSearch();
  const navigate = route.useNavigate();
  const agents = useAgents({ status: status === '' ? undefined : status });
  const now = useNow();
  const all = (agents.data?.pages ?? []).flatMap(({ data }) => data);
  const rows = all.filter((agent) => `${agent.name} ${agent.id}`.toLowerCase().includes(q.toLowerCase()));
  const { hasNextPage, isFetching, isError, fetchNextPage } = agents;
  useEffect(() => {
    // The search covers every page.
    if (q !== '' && hasNextPage && !isFetching && !isError) void fetchNextPage();
  }, [q, hasNextPage, isFetching, isError, fetchNextPage]);
  const change = (next: { q?: string; status?: string }) =>
    void navigate({ search: (old) => ({ ...old, ...next }), replace: true });
  return (
    <div className="page">
      <header className="page-head">
        <h1>{t('Agents')}</h1>
        <span className="spacer" />
        <NewAgent />
      </header>
      <div className="filters" role="group" aria-label={t('Filters')}>
        <input
          type="search"
          aria-label={t('Search names')}
          placeholder={t('Search')}
          value={q}
          onChange={(event) => change({ q: event.target.value })}
        />
        <Choice
          isInline
          label={t('Status')}
          value={status}
          options={[
            ['', t('Active')],
            ['archived', t('Archived')],
          ]}
          onChange={(next) => change({ status: next })}
        />
      </div>
      {agents.error === null ? null : <ErrorNote error={agents.error} onRetry={() => void agents.refetch()} />}
      {agents.isPending ? <Skeleton /> : null}
      {agents.isSuccess && all.length === 0 ? <NoAgents /> : null}
      {agents.isSuccess && all.length > 0 && rows.length === 0 ? <Empty text={t('No agent matches.')} /> : null}
      {rows.length === 0 ? null : (
        <Table columns={['Name', 'Model', 'In production', 'Latest', 'Changed']}>
          {rows.map((agent) => (
            <tr key={agent.id}>
              <td>
                <Link to="/agents/$agentId/$tab" params={{ agentId: agent.id, tab: 'overview' }}>
                  {agent.name}
                </Link>
              </td>
              <td className="mono">{agent.version.modelName}</td>
              <td>{agent.productionVersion}</td>
              <td>{agent.version.version}</td>
              <td title={formatDateTime(agent.updatedAt)}>{formatAge(agent.updatedAt, now)}</td>
            </tr>
          ))}
        </Table>
      )}
      {agents.hasNextPage ? <Button onClick={() => void agents.fetchNextPage()}>{t('Load more')}</Button> : null}
    </div>
  );
}
