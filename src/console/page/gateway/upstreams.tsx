import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { get, request } from '../data/http.ts';
import { listAll, queries, useCan } from '../data/queries.ts';
import { t } from '../i18n/t.ts';
import { Button } from '../parts/button.tsx';
import { Confirm } from '../parts/confirm.tsx';
import { ErrorNote } from '../parts/error-note.tsx';
import { Skeleton } from '../parts/states.tsx';
import { Status } from '../parts/status.tsx';
import type { StatusKind } from '../parts/status.tsx';
import { Table } from '../parts/table.tsx';
import { formatAge, formatCount, formatDuration } from '../text/format.ts';
import { AddProvider } from './add-provider.tsx';

type Upstream = {
  name: string;
  format: string;
  source: 'server' | 'organization';
  breaker: 'closed' | 'open' | 'half_open';
  lastErrorAt: string | null;
  lastErrorCode: string | null;
  latencyMs: number | null;
  models: number;
};
type Provider = { id: string; name: string; hasKey: boolean; probe: { status: string; message: string | null } | null };

const POLL_MS = 10_000;
const MAX_PAGES = 5;
const STATES: Record<string, StatusKind> = { closed: 'working', open: 'failing', half_open: 'retrying' };

function useUpstreams() {
  return useQuery({
    queryKey: ['upstreams'],
    queryFn: ({ signal }) => get<{ data: Upstream[] }>('v1/upstreams', {}, signal),
    refetchInterval: POLL_MS,
  });
}

/** The organization's own providers, by name. */
function useProviders(): ReadonlyMap<string, Provider> {
  const { data = [] } = useQuery({
    queryKey: ['providers'],
    queryFn: ({ signal }) => listAll<Provider>('v1/providers', MAX_PAGES, signal),
  });
  return new Map(data.map((provider) => [provider.name, provider]));
}

/** What the last check of an own provider has found; nothing where it was fine. */
function Probe({ provider }: { provider: Provider | undefined }) {
  const { status, message } = provider?.probe ?? {};
  if (status === undefined || status === 'ok') return null;
  return <span className="error-text"> {message ?? status}</span>;
}

type RowProps = { upstream: Upstream; provider: Provider | undefined; onTest: () => void; onDelete: () => void };

function Row({ upstream, provider, onTest, onDelete }: RowProps) {
  const { name, format, source, breaker, lastErrorAt, lastErrorCode, latencyMs, models } = upstream;
  const canChange = useCan('admin');
  return (
    <tr>
      <td>
        <Status kind={STATES[breaker] ?? 'retrying'} />
      </td>
      <td className="mono">{name}</td>
      <td>{format}</td>
      <td>
        {source === 'server' ? t('the server') : t('the organization')}
        <Probe provider={provider} />
      </td>
      <td>{formatCount(models)}</td>
      <td>{latencyMs === null ? '–' : formatDuration(latencyMs)}</td>
      <td>
        {lastErrorAt === null
          ? '–'
          : t('{code}, {age} ago', { code: lastErrorCode ?? '', age: formatAge(lastErrorAt) })}
      </td>
      <td>
        {provider === undefined || !canChange ? null : (
          <div className="form-foot row-actions">
            <Button onClick={onTest}>{t('Check')}</Button>
            <Button kind="danger" onClick={onDelete}>
              {t('Delete')}
            </Button>
          </div>
        )}
      </td>
    </tr>
  );
}

async function reload(): Promise<void> {
  for (const key of ['upstreams', 'providers', 'models']) await queries.invalidateQueries({ queryKey: [key] });
}

function NoUpstream({ canChange }: { canChange: boolean }) {
  return (
    <p className="meta">
      {canChange
        ? t('Only the built-in script/demo answers. Add a provider with its key, or set one such as OPENAI_API_KEY.')
        : t('Only the built-in script/demo answers.')}
    </p>
  );
}

/** The providers that calls go to, how they do, and the organization's own ones. */
export function Upstreams() {
  const upstreams = useUpstreams();
  const providers = useProviders();
  const canChange = useCan('admin');
  const [isAdding, setAdding] = useState(false);
  const [deleting, setDeleting] = useState<Provider>();
  const [error, setError] = useState<unknown>();
  const rows = upstreams.data?.data ?? [];
  const change = async (method: string, path: string) => {
    setError(undefined);
    await request(method, path).catch(setError);
    await reload();
  };
  return (
    <section aria-labelledby="upstreams-title" className="upstreams">
      <header className="page-head">
        <h2 id="upstreams-title">{t('Providers')}</h2>
        <span className="meta">{t('as the calls of this organization have found them')}</span>
        <span className="spacer" />
        {canChange ? <Button onClick={() => setAdding(true)}>{t('Add a provider')}</Button> : null}
      </header>
      {error === undefined ? null : <ErrorNote error={error} />}
      {upstreams.error === null ? null : <ErrorNote error={upstreams.error} onRetry={() => void upstreams.refetch()} />}
      {upstreams.isPending ? <Skeleton rows={2} /> : null}
      {upstreams.isSuccess && rows.length === 0 ? <NoUpstream canChange={canChange} /> : null}
      {rows.length === 0 ? null : (
        <Table columns={['State', 'Name', 'Format', 'From', 'Models', 'First answer', 'Last error', '']}>
          {rows.map((upstream) => {
            const provider = providers.get(upstream.name);
            return (
              <Row
                key={upstream.name}
                upstream={upstream}
                provider={provider}
                onTest={() => void change('POST', `v1/providers/${provider?.id ?? ''}/test`)}
                onDelete={() => setDeleting(provider)}
              />
            );
          })}
        </Table>
      )}
      {isAdding ? <AddProvider onAdded={() => void reload()} onClose={() => setAdding(false)} /> : null}
      {deleting === undefined ? null : (
        <Confirm
          title={t('Delete the provider {name}?', { name: deleting.name })}
          text={t('Its key is deleted, and calls of its models fail from now on.')}
          action={t('Delete')}
          isDanger
          onConfirm={() => void change('DELETE', `v1/providers/${deleting.id}`)}
          onClose={() => setDeleting(undefined)}
        />
      )}
    </section>
  );
}
