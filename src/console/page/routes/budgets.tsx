import { useState } from 'react';
import type { FormEvent } from 'react';
import type { Budget } from '../../../../clients/typescript/generated/budgets.ts';
import { request } from '../data/http.ts';
import { queries, useAllAgents, useBudgets, useCan } from '../data/queries.ts';
import { t } from '../i18n/t.ts';
import { Button } from '../parts/button.tsx';
import { Confirm } from '../parts/confirm.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { ErrorNote } from '../parts/error-note.tsx';
import { Choice, TextField } from '../parts/field.tsx';
import { Empty, Skeleton } from '../parts/states.tsx';
import { Table } from '../parts/table.tsx';
import { formatDateTime } from '../text/format.ts';
import { formatMoney } from '../text/money.ts';

type Draft = Pick<Budget, 'scope' | 'id' | 'period' | 'onReached'> & { limitUsd: string };
const EMPTY: Draft = { scope: 'agent', id: '', limitUsd: '', period: 'month', onReached: 'pause' };
const SCOPES: readonly (readonly [Budget['scope'], string, string])[] = [
  ['organization', 'Organization', 'Id or name of the organization'],
  ['key', 'API key', 'Id of the key'],
  ['agent', 'Agent', 'Id of the agent'],
  ['subject', 'Subject', 'Agent and subject: agt_…:subject'],
  ['automation', 'Automation', 'Id of the automation'],
  ['session', 'Session', 'Id of the session'],
];
const PERIODS: readonly (readonly [Budget['period'], string])[] = [
  ['day', 'a day'],
  ['week', 'a week'],
  ['month', 'a month'],
  ['session', 'each session'],
  ['total', 'in total'],
];
const REACHED: readonly (readonly [Budget['onReached'], string])[] = [
  ['pause', 'Pause turns until it is raised'],
  ['refuse', 'End turns'],
  ['notify', 'Notify only'],
];

function nameOf<T extends string>(list: readonly (readonly [T, string, string?])[], value: T): string {
  return t(list.find(([each]) => each === value)?.[1] ?? value);
}

function buildPath({ scope, id }: Pick<Budget, 'scope' | 'id'>): string {
  return `v1/budgets/${scope}/${encodeURIComponent(id)}`;
}

function BudgetForm({ initial, isNew, onClose }: { initial: Draft; isNew: boolean; onClose: () => void }) {
  const [draft, setDraft] = useState(initial);
  const [error, setError] = useState<unknown>();
  const change = (next: Partial<Draft>) => setDraft((old) => ({ ...old, ...next }));
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setError(undefined);
    try {
      const { limitUsd, period, onReached } = draft;
      const body = { limitUsd: Number(limitUsd), period, onReached };
      await request('PUT', buildPath({ scope: draft.scope, id: draft.id.trim() }), { body });
      void queries.invalidateQueries({ queryKey: ['budgets'] });
      onClose();
    } catch (thrown) {
      setError(thrown);
    }
  };
  return (
    <Dialog title={isNew ? t('New budget') : t('Change the budget')} onClose={onClose}>
      <form className="form" onSubmit={(event) => void submit(event)}>
        {isNew ? (
          <>
            <Choice
              label={t('For')}
              value={draft.scope}
              options={SCOPES.map(([value, text]) => [value, t(text)])}
              onChange={(scope) => change({ scope: scope as Budget['scope'] })}
            />
            <TextField
              label={t(SCOPES.find(([each]) => each === draft.scope)?.[2] ?? 'Id')}
              value={draft.id}
              onChange={(event) => change({ id: event.target.value })}
              required
              maxLength={600}
              autoFocus
            />
          </>
        ) : null}
        <TextField
          label={t('Limit in US dollars')}
          type="number"
          min={0}
          step="any"
          value={draft.limitUsd}
          onChange={(event) => change({ limitUsd: event.target.value })}
          required
        />
        <Choice
          label={t('Period, UTC')}
          value={draft.period}
          options={PERIODS.map(([value, text]) => [value, t(text)])}
          onChange={(period) => change({ period: period as Budget['period'] })}
        />
        <Choice
          label={t('When it is reached')}
          value={draft.onReached}
          options={REACHED.map(([value, text]) => [value, t(text)])}
          onChange={(onReached) => change({ onReached: onReached as Budget['onReached'] })}
        />
        {error === undefined ? null : <ErrorNote error={error} />}
        <div className="dialog-foot">
          <Button onClick={onClose}>{t('Cancel')}</Button>
          <Button kind="primary" type="submit" disabled={draft.limitUsd === '' || draft.id.trim() === ''}>
            {t('Save')}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function Spent({ budget }: { budget: Budget }) {
  const { spentUsd, limitUsd, reached } = budget;
  return (
    <>
      <meter
        className="budget-meter"
        min={0}
        max={Math.max(limitUsd, 0.000001)}
        value={Math.min(spentUsd, limitUsd)}
        aria-label={t('Spent')}
      />
      <span>
        {t('{spent} of {limit}', { spent: formatMoney(spentUsd), limit: formatMoney(limitUsd) })}
        {reached ? <span className="error-text"> {t('reached')}</span> : null}
      </span>
    </>
  );
}

/** People know the names of agents; the id is in the tooltip. */
function useTarget({ scope, id }: Budget): string {
  const agents = useAllAgents();
  const nameAgent = (agentId: string) => agents.find((agent) => agent.id === agentId)?.name ?? agentId;
  if (scope === 'agent') return nameAgent(id);
  const colon = id.indexOf(':');
  if (scope !== 'subject' || colon === -1) return id;
  return t('{subject} of {agent}', { subject: id.slice(colon + 1), agent: nameAgent(id.slice(0, colon)) });
}

type RowProps = { budget: Budget; onEdit: () => void; onDelete: () => void };

function Row({ budget, onEdit, onDelete }: RowProps) {
  const canWrite = useCan('owner');
  const target = useTarget(budget);
  return (
    <tr>
      <td>{nameOf(SCOPES, budget.scope)}</td>
      <td className={target === budget.id ? 'mono budget-id' : 'budget-id'} title={budget.id}>
        {target}
      </td>
      <td>
        <Spent budget={budget} />
      </td>
      <td>
        {nameOf(PERIODS, budget.period)}
        {budget.periodEnd === null ? null : (
          <span className="meta"> {t('until {time}', { time: formatDateTime(budget.periodEnd) })}</span>
        )}
      </td>
      <td>{nameOf(REACHED, budget.onReached)}</td>
      <td>
        {canWrite ? (
          <div className="form-foot row-actions">
            <Button onClick={onEdit}>{t('Change')}</Button>
            <Button kind="danger" onClick={onDelete}>
              {t('Delete')}
            </Button>
          </div>
        ) : null}
      </td>
    </tr>
  );
}

/** Budgets with their limits, scopes and remaining amounts. */
export function Budgets() {
  const budgets = useBudgets();
  const canWrite = useCan('owner');
  const [editing, setEditing] = useState<{ draft: Draft; isNew: boolean }>();
  const [deleting, setDeleting] = useState<Budget>();
  const [error, setError] = useState<unknown>();
  const rows = (budgets.data?.pages ?? []).flatMap(({ data }) => data);
  const remove = async (budget: Budget) => {
    setError(undefined);
    await request('DELETE', buildPath(budget)).catch(setError);
    await queries.invalidateQueries({ queryKey: ['budgets'] });
  };
  return (
    <div className="page">
      <header className="page-head">
        <h1>{t('Budgets')}</h1>
        <span className="spacer" />
        {canWrite ? (
          <Button kind="primary" onClick={() => setEditing({ draft: EMPTY, isNew: true })}>
            {t('New budget')}
          </Button>
        ) : null}
      </header>
      {error === undefined ? null : <ErrorNote error={error} />}
      {budgets.error === null ? null : <ErrorNote error={budgets.error} onRetry={() => void budgets.refetch()} />}
      {budgets.isPending ? <Skeleton /> : null}
      {budgets.isSuccess && rows.length === 0 ? (
        <Empty text={t('No budget is set. A budget limits what an agent, a key or a subject may spend.')} />
      ) : null}
      {rows.length === 0 ? null : (
        <Table columns={['For', 'Which', 'Spent', 'Period', 'When reached', '']}>
          {rows.map((budget) => (
            <Row
              key={`${budget.scope}:${budget.id}`}
              budget={budget}
              onEdit={() => setEditing({ draft: { ...budget, limitUsd: String(budget.limitUsd) }, isNew: false })}
              onDelete={() => setDeleting(budget)}
            />
          ))}
        </Table>
      )}
      {budgets.hasNextPage ? <Button onClick={() => void budgets.fetchNextPage()}>{t('Load more')}</Button> : null}
      {editing === undefined ? null : (
        <BudgetForm initial={editing.draft} isNew={editing.isNew} onClose={() => setEditing(undefined)} />
      )}
      {deleting === undefined ? null : (
        <Confirm
          title={t('Delete this budget?')}
          text={t('Sessions that it has paused go on.')}
          action={t('Delete')}
          isDanger
          onConfirm={() => void remove(deleting)}
          onClose={() => setDeleting(undefined)}
        />
      )}
    </div>
  );
}
