import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { get } from '../data/http.ts';
import { useCan } from '../data/queries.ts';
import type { UsageItem, UsageReport } from '../data/types.ts';
import { t } from '../i18n/t.ts';
import { Button } from '../parts/button.tsx';
import { Copy } from '../parts/copy.tsx';
import { ErrorNote } from '../parts/error-note.tsx';
import { Empty, Skeleton } from '../parts/states.tsx';
import { Table } from '../parts/table.tsx';
import { ModelCall } from '../gateway/model-call.tsx';
import { Upstreams } from '../gateway/upstreams.tsx';
import type { Model } from '../gateway/model-call.tsx';
import { formatCount, formatDuration } from '../text/format.ts';
import { formatMoney } from '../text/money.ts';

const POLL_MS = 30_000;
const DAY_MS = 86_400_000;
const FAILING = 0.1;

/** How the calls of each model went in the last 24 hours, from all products. */
function useHealth(): ReadonlyMap<string, UsageItem> {
  const { data } = useQuery({
    queryKey: ['models', 'health'],
    queryFn: ({ signal }) => {
      const [from, to] = [Date.now() - DAY_MS, Date.now()].map((time) => new Date(time).toISOString());
      return get<UsageReport>('v1/usage', { from, to, groupBy: 'model', source: 'all' }, signal);
    },
    refetchInterval: POLL_MS,
  });
  return useMemo(() => new Map((data?.data ?? []).map((item) => [item.model ?? '', item])), [data]);
}

function Failures({ health }: { health: UsageItem | undefined }) {
  const { requests = 0, failures = 0 } = health ?? {};
  if (requests === 0) return '–';
  const share = failures / requests;
  return <span className={share >= FAILING ? 'error-text' : ''}>{`${(share * 100).toFixed(1)} %`}</span>;
}

type RowProps = { model: Model; health: UsageItem | undefined; onTry: (() => void) | undefined };

function Row({ model, health, onTry }: RowProps) {
  const { id, context_window: window, max_output_tokens: output, price } = model;
  return (
    <tr>
      <td>
        <Copy text={id} />
      </td>
      <td className="cell-number">{typeof window === 'number' ? formatCount(window) : '–'}</td>
      <td className="cell-number">{typeof output === 'number' ? formatCount(output) : '–'}</td>
      <td className="cell-number">{formatMoney(price?.input)}</td>
      <td className="cell-number">{formatMoney(price?.output)}</td>
      <td className="cell-number">{formatCount(health?.requests ?? 0)}</td>
      <td className="cell-number">
        <Failures health={health} />
      </td>
      <td className="cell-number">
        {typeof health?.p95LatencyMs === 'number' ? formatDuration(health.p95LatencyMs) : '–'}
      </td>
      <td>{onTry === undefined ? null : <Button onClick={onTry}>{t('Try')}</Button>}</td>
    </tr>
  );
}

const NUMBERS = ['Window', 'Output', 'Input a million', 'Output a million', 'Calls, 24 h', 'Failed', 'p95'];
const COLUMNS = ['Model', ...NUMBERS.map((name) => ({ name, isNumber: true as const })), ''];

/** The models that the caller may use, their prices, and a call to one of them. */
export function Models() {
  const canCall = useCan('inference');
  const canSee = useCan('services:read');
  const isAdmin = useCan('admin');
  const [chosen, setChosen] = useState<string>();
  const models = useQuery({
    queryKey: ['models'],
    queryFn: ({ signal }) => get<{ data: Model[] }>('v1/models', {}, signal),
    staleTime: 60_000,
  });
  const health = useHealth();
  const rows = models.data?.data ?? [];
  return (
    <div className="page">
      <header className="page-head">
        <h1>{t('Models')}</h1>
        <span className="meta">{t('Prices in US dollars for a million tokens')}</span>
      </header>
      {models.error === null ? null : <ErrorNote error={models.error} onRetry={() => void models.refetch()} />}
      {models.isPending ? <Skeleton /> : null}
      {models.isSuccess && rows.length === 0 ? (
        <Empty text={t('No model is there yet. Set the key of a provider, such as OPENAI_API_KEY.')} />
      ) : null}
      {rows.length === 0 ? null : (
        <Table columns={COLUMNS}>
          {rows.map((model) => (
            <Row
              key={model.id}
              model={model}
              health={health.get(model.id)}
              onTry={canCall ? () => setChosen(model.id) : undefined}
            />
          ))}
        </Table>
      )}
      {chosen === undefined ? null : (
        <ModelCall key={chosen} model={chosen} models={rows} onModel={setChosen} onClose={() => setChosen(undefined)} />
      )}
      {canSee || isAdmin ? <Upstreams /> : null}
    </div>
  );
}
