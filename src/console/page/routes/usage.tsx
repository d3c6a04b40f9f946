import { useQuery } from '@tanstack/react-query';
import { Link, getRouteApi } from '@tanstack/react-router';
import { Fragment } from 'react';
import { BASE, get } from '../data/http.ts';
import { useAllAgents } from '../data/queries.ts';
import type { UsageReport } from '../data/types.ts';
import { t } from '../i18n/t.ts';
import { Bars } from '../parts/bars.tsx';
import { Button } from '../parts/button.tsx';
import { ErrorNote } from '../parts/error-note.tsx';
import { Choice } from '../parts/field.tsx';
import { saveFile } from '../parts/save-file.ts';
import { Empty, Skeleton } from '../parts/states.tsx';
import { Table } from '../parts/table.tsx';
import { formatCount, formatDay } from '../text/format.ts';
import { formatMoney } from '../text/money.ts';
import { NO_NAME, listPeriods, readTotals, sumByDay, sumByName, writeCsv } from '../text/usage.ts';
import type { By, UsageRow } from '../text/usage.ts';
import { useNames } from '../usage/names.ts';

const route = getRouteApi('/usage');
const DAY_MS = 86_400_000;
const DEFAULT_DAYS = 29;
const SERIES = 5;
/** Rows of the table; a download has them all. */
const MAX_ROWS = 200;
const BYS: readonly (readonly [By, string])[] = [
  ['model', 'Model'],
  ['key', 'API key'],
  ['agent', 'Agent'],
  ['subject', 'Subject'],
  ['session', 'Session'],
  ['automation', 'Automation'],
  ['user', 'Person'],
  ['product', 'Product'],
];

function toDay(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

function readDay(value: string | undefined, fallback: string): string {
  return value !== undefined && /^\d{4}-\d\d-\d\d$/.test(value) && !Number.isNaN(Date.parse(value)) ? value : fallback;
}

function readBy(value: string | undefined): By {
  return BYS.find(([by]) => by === value)?.[0] ?? 'model';
}

function download(text: string, name: string): void {
  saveFile(new Blob([text], { type: 'text/csv' }), name);
}

function useUsage(from: string, to: string, by: By, filter: string | undefined) {
  return useQuery({
    queryKey: ['usage', from, to, by, filter],
    queryFn: ({ signal }) =>
      get<UsageReport>('v1/usage', { from, to, groupBy: `day,${by}`, source: 'all', filter }, signal),
  });
}

/** Leads to what was used: the agent, the session, or the sessions of the subject. */
function Name({ by, name, text }: { by: By; name: string; text: string }) {
  if (name === NO_NAME) return text;
  if (by === 'subject') {
    return (
      <Link to="/sessions" search={{ subject: name }}>
        {text}
      </Link>
    );
  }
  if (by === 'session') {
    return (
      <Link to="/sessions/$sessionId" params={{ sessionId: name }}>
        {text}
      </Link>
    );
  }
  if (by !== 'agent') return text;
  return (
    <Link to="/agents/$agentId/$tab" params={{ agentId: name, tab: 'overview' }}>
      {text}
    </Link>
  );
}

/** The days at a choice; `custom` while the fields beside it say something else. */
function PeriodChoice({ from, to, onChange }: { from: string; to: string; onChange: (days: Days) => void }) {
  const periods = listPeriods(Date.now());
  const chosen = periods.find((period) => period.from === from && period.to === to);
  return (
    <Choice
      isInline
      label={t('Period')}
      value={chosen?.id ?? 'custom'}
      options={[
        ...periods.map(({ id, name }) => [id, t(name)] as const),
        ...(chosen === undefined ? [['custom', t('Other days')] as const] : []),
      ]}
      onChange={(id) => {
        const period = periods.find((each) => each.id === id);
        if (period !== undefined) onChange({ from: period.from, to: period.to });
      }}
    />
  );
}

type AgentFilterProps = { filter: string | undefined; onChange: (filter: string | undefined) => void };

/** The usage of one agent. A filter that the address gives otherwise, such as `model:…`, is a button that removes it. */
function AgentFilter({ filter, onChange }: AgentFilterProps) {
  const agents = useAllAgents();
  const options = agents.map(({ id, name }) => [`agent:${id}`, name] as const);
  if (filter !== undefined && !options.some(([value]) => value === filter)) {
    return <Button onClick={() => onChange(undefined)}>{t('Filter: {text}', { text: filter })} ×</Button>;
  }
  return (
    <Choice
      isInline
      label={t('Agent')}
      value={filter ?? ''}
      options={[['', t('Any agent')], ...options]}
      onChange={(value) => onChange(value === '' ? undefined : value)}
    />
  );
}

const NUMBERS = ['Cost', 'Share', 'Calls', 'Failed', 'Tokens'].map((name) => ({ name, isNumber: true as const }));

type Days = { from: string; to: string };
type TableProps = { rows: readonly UsageRow[]; by: By; total: number; nameOf: (name: string) => string };

function UsageTable({ rows, by, total, nameOf }: TableProps) {
  return (
    <Table columns={[BYS.find(([each]) => each === by)?.[1] ?? '', ...NUMBERS]}>
      {rows.map((row) => (
        <tr key={row.name}>
          <td>
            <Name by={by} name={row.name} text={nameOf(row.name)} />
          </td>
          <td className="cell-number">{formatMoney(row.costUsd)}</td>
          <td className="cell-number">{total === 0 ? '–' : `${Math.round((row.costUsd / total) * 100)} %`}</td>
          <td className="cell-number">{formatCount(row.requests)}</td>
          <td className="cell-number">
            {row.requests === 0 ? '–' : `${((row.failures / row.requests) * 100).toFixed(1)} %`}
          </td>
          <td className="cell-number">{formatCount(row.tokens)}</td>
        </tr>
      ))}
    </Table>
  );
}

function Report({ report, by, from, to }: { report: UsageReport; by: By; from: string; to: string }) {
  const nameOf = useNames(by);
  const rows = sumByName(report, by);
  const totals = readTotals(report);
  const hasCost = totals.costUsd > 0;
  const series = new Map(rows.map((row, index) => [row.name, Math.min(index, SERIES)]));
  const bars = sumByDay(report, by, { from, to }).map(({ day, parts }) => ({
    label: day,
    parts: [...parts]
      .map(([name, amount]) => ({
        series: series.get(name) ?? SERIES,
        value: hasCost ? amount.costUsd : amount.tokens,
      }))
      .sort((left, right) => left.series - right.series),
  }));
  if (rows.length === 0) return <Empty text={t('Nothing was used in these days.')} />;
  const shown = [
    [t('Cost'), formatMoney(totals.costUsd)],
    [t('Tokens'), formatCount(totals.tokens)],
    [t('Calls'), formatCount(totals.requests)],
  ] as const;
  return (
    <>
      <div className="totals">
        {shown.map(([name, value]) => (
          <p key={name}>
            <strong>{value}</strong>
            <span className="meta">{name}</span>
          </p>
        ))}
      </div>
      <Bars
        bars={bars}
        title={hasCost ? t('Cost by day') : t('Tokens by day')}
        format={hasCost ? formatMoney : formatCount}
      />
      <p className="legend">
        {rows.slice(0, SERIES).map((row, index) => (
          <Fragment key={row.name}>
            <span>
              <svg width="10" height="10" aria-hidden="true">
                <rect width="10" height="10" className={`series-${index}`} />
              </svg>{' '}
              {nameOf(row.name)}
            </span>
          </Fragment>
        ))}
        {rows.length > SERIES ? <span>{t('and {n} others', { n: rows.length - SERIES })}</span> : null}
      </p>
      <UsageTable rows={rows.slice(0, MAX_ROWS)} by={by} total={totals.costUsd} nameOf={nameOf} />
      {rows.length > MAX_ROWS ? (
        <p className="meta">{t('and {n} others with lower cost', { n: rows.length - MAX_ROWS })}</p>
      ) : null}
      <div className="form-foot">
        <Button onClick={() => download(writeCsv(rows, by), `usage-${from}-${to}.csv`)}>{t('Download CSV')}</Button>
        <a href={new URL('docs', BASE).href}>{t('The same by the API')}</a>
      </div>
    </>
  );
}

/** Usage and cost. Days are in UTC; totals come from the server. */
export function UsagePage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const now = Date.now();
  const to = readDay(search.to, toDay(now));
  const from = readDay(search.from, toDay(Date.parse(to) - DEFAULT_DAYS * DAY_MS));
  const by = readBy(search.by);
  const usage = useUsage(from, to, by, search.filter);
  const change = (next: typeof search) => void navigate({ search: (old) => ({ ...old, ...next }), replace: true });
  return (
    <div className="page">
      <header className="page-head">
        <h1>{t('Usage')}</h1>
        <span className="meta">{t('{from} to {to}, UTC', { from: formatDay(from), to: formatDay(to) })}</span>
      </header>
      <div className="filters" role="group" aria-label={t('Filters')}>
        <PeriodChoice from={from} to={to} onChange={change} />
        <input
          type="date"
          aria-label={t('From')}
          value={from}
          max={to}
          onChange={(event) => change({ from: event.target.value })}
        />
        <input
          type="date"
          aria-label={t('To')}
          value={to}
          min={from}
          onChange={(event) => change({ to: event.target.value })}
        />
        <AgentFilter filter={search.filter} onChange={(filter) => change({ filter })} />
        <Choice
          isInline
          label={t('Group by')}
          value={by}
          options={BYS.map(([value, text]) => [value, t(text)])}
          onChange={(next) => change({ by: next })}
        />
      </div>
      {usage.error === null ? null : <ErrorNote error={usage.error} onRetry={() => void usage.refetch()} />}
      {usage.isPending ? <Skeleton rows={1} height={160} /> : null}
      {usage.data === undefined || usage.error !== null ? null : (
        <Report report={usage.data} by={by} from={from} to={to} />
      )}
    </div>
  );
}
