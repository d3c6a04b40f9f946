// Tests: test/console/manage.test.ts
import { useEffect, useRef, useState } from 'react';
import type { InputHTMLAttributes } from 'react';
import type { Query } from '../data/http.ts';
import { useAllAgents } from '../data/queries.ts';
import { t } from '../i18n/t.ts';
import { Button } from '../parts/button.tsx';
import { Choice } from '../parts/field.tsx';
import { STUCK_MS } from '../parts/status.tsx';
import { readDay, readDays } from '../text/local-time.ts';

/** What the address of the list holds. */
export type Search = {
  status?: string;
  q?: string;
  agent?: string;
  subject?: string;
  from?: string;
  to?: string;
  minCost?: string;
  sort?: string;
};

const TYPING_MS = 250;

const STATUSES = [
  ['', 'All'],
  ['waiting', 'Waiting'],
  ['running', 'Running'],
  ['stuck', 'Stuck'],
  ['failed', 'Failed'],
  ['idle', 'Idle'],
  ['archived', 'Archived'],
] as const;
const STATUS_QUERIES: Record<string, Query> = {
  waiting: { status: 'waiting_on_human' },
  running: { status: 'running' },
  stuck: { status: 'running', idleForSeconds: STUCK_MS / 1000 },
  failed: { outcome: 'error' },
  idle: { status: 'idle' },
  archived: { status: 'archived' },
};

/** The query of `GET /v1/sessions` for an address. */
export function buildQuery(search: Search): Query {
  const { from, to } = readDays(search.from, search.to);
  return {
    ...STATUS_QUERIES[search.status ?? ''],
    q: search.q,
    agentId: search.agent,
    subjectId: search.subject,
    createdFrom: from,
    createdTo: to,
    minCostUsd: Number(search.minCost) > 0 ? Number(search.minCost) : undefined,
    order: search.sort,
  };
}

type TypedFilterProps = InputHTMLAttributes<HTMLInputElement> & {
  label: string;
  value: string;
  onText: (text: string) => void;
};

/** A field that queries when typing pauses. */
function TypedFilter({ label, value, onText, ...rest }: TypedFilterProps) {
  const [text, setText] = useState(value);
  const change = useRef(onText);
  change.current = onText;
  useEffect(() => setText(value), [value]);
  useEffect(() => {
    if (text === value) return undefined;
    const timer = setTimeout(() => change.current(text), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text, value]);
  return (
    <input aria-label={label} title={label} value={text} onChange={(event) => setText(event.target.value)} {...rest} />
  );
}

/** When the sessions were created, and what they cost at least. */
function RangeFilters({ search, onChange }: { search: Search; onChange: (change: Search) => void }) {
  const [from, to] = [readDay(search.from), readDay(search.to)];
  return (
    <>
      <label className="filter-field">
        <span className="meta">{t('From')}</span>
        <input
          type="date"
          title={t('Created on this day or later, UTC')}
          value={from}
          {...(to === '' ? {} : { max: to })}
          onChange={(event) => onChange({ from: event.target.value })}
        />
      </label>
      <label className="filter-field">
        <span className="meta">{t('To')}</span>
        <input
          type="date"
          title={t('Created on this day or earlier, UTC')}
          value={to}
          {...(from === '' ? {} : { min: from })}
          onChange={(event) => onChange({ to: event.target.value })}
        />
      </label>
      <TypedFilter
        label={t('Lowest cost in US dollars')}
        placeholder={t('Cost from')}
        type="number"
        min={0}
        step="any"
        className="filter-number"
        value={search.minCost ?? ''}
        onText={(minCost) => onChange({ minCost })}
      />
    </>
  );
}

export function SessionFilters({ search, onChange }: { search: Search; onChange: (change: Search) => void }) {
  const agents = useAllAgents();
  return (
    <div className="filters" role="group" aria-label={t('Filters')}>
      <TypedFilter
        label={t('Search titles and subjects')}
        placeholder={t('Search')}
        type="search"
        value={search.q ?? ''}
        onText={(q) => onChange({ q })}
      />
      <Choice
        isInline
        label={t('Status')}
        value={search.status ?? ''}
        options={STATUSES.map(([value, text]) => [value, value === '' ? t('Any status') : t(text)])}
        onChange={(status) => onChange({ status })}
      />
      <Choice
        isInline
        label={t('Agent')}
        value={search.agent ?? ''}
        options={[['', t('Any agent')], ...agents.map((agent) => [agent.id, agent.name] as const)]}
        onChange={(agent) => onChange({ agent })}
      />
      <Choice
        isInline
        label={t('Order')}
        value={search.sort ?? ''}
        options={[
          ['', t('Newest first')],
          ['activity', t('Last activity')],
          ['cost', t('Highest cost')],
        ]}
        onChange={(sort) => onChange({ sort })}
      />
      <RangeFilters search={search} onChange={onChange} />
      {search.subject === undefined ? null : (
        <Button onClick={() => onChange({ subject: '' })}>{t('Subject: {name}', { name: search.subject })} ×</Button>
      )}
    </div>
  );
}
