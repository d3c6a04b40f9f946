import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Automation } from '../../../../clients/typescript/generated/automations.ts';
import { isStatus, request } from '../data/http.ts';
import { queries, useAutomations, useCan } from '../data/queries.ts';
import { t } from '../i18n/t.ts';
import { Button } from '../parts/button.tsx';
import { ErrorNote } from '../parts/error-note.tsx';
import { Empty, Skeleton } from '../parts/states.tsx';
import { Table } from '../parts/table.tsx';
import { formatDateTime } from '../text/format.ts';

type Action = 'pause' | 'resume' | 'trigger';

function buildPath({ agentId, subjectId, id }: Automation, action: Action): string {
  const parts = [agentId, 'users', encodeURIComponent(subjectId), 'automations', id, action];
  return `v1/agents/${parts.join('/')}`;
}

function LastRun({ automation }: { automation: Automation }) {
  const { lastRunAt, lastStatus, lastError, lastSessionId } = automation;
  if (lastRunAt === null) return '–';
  const text = formatDateTime(lastRunAt);
  return (
    <>
      {lastSessionId === null ? (
        text
      ) : (
        <Link to="/sessions/$sessionId" params={{ sessionId: lastSessionId }}>
          {text}
        </Link>
      )}
      {lastStatus === 'error' ? (
        <span className="error-text" title={lastError ?? ''}>
          {' '}
          {t('failed')}
        </span>
      ) : null}
    </>
  );
}

function Runs({ automation: { runCount, failureCount } }: { automation: Automation }) {
  if (runCount === 0) return <span className="meta">{t('none yet')}</span>;
  return (
    <>
      {runCount}
      {failureCount === 0 ? null : <span className="error-text">, {t('{n} failed', { n: failureCount })}</span>}
    </>
  );
}

function Row({ automation, onAction }: { automation: Automation; onAction: (action: Action) => void }) {
  const canWrite = useCan('agents:write');
  return (
    <tr>
      <td>{automation.name ?? automation.prompt.slice(0, 60)}</td>
      <td>{automation.subjectId}</td>
      <td title={automation.schedule}>{automation.scheduleDisplay}</td>
      <td>{automation.nextRunAt === null ? t(automation.state) : formatDateTime(automation.nextRunAt)}</td>
      <td>
        <LastRun automation={automation} />
      </td>
      <td>
        <Runs automation={automation} />
      </td>
      <td>
        {canWrite ? (
          <div className="form-foot row-actions">
            <Button onClick={() => onAction('trigger')}>{t('Run now')}</Button>
            <Button onClick={() => onAction(automation.enabled ? 'pause' : 'resume')}>
              {automation.enabled ? t('Pause') : t('Resume')}
            </Button>
          </div>
        ) : null}
      </td>
    </tr>
  );
}

/** Automations with their next and last runs: of all agents, or of one. */
export function AutomationList({ agentId }: { agentId?: string }) {
  const automations = useAutomations(agentId);
  const [error, setError] = useState<unknown>();
  const rows = (automations.data?.pages ?? []).flatMap(({ data }) => data);
  const act = async (automation: Automation, action: Action) => {
    setError(undefined);
    await request('POST', buildPath(automation, action)).catch(setError);
    await queries.invalidateQueries({ queryKey: ['automations'] });
  };
  const isMissing = isStatus(automations.error, 404);
  return (
    <>
      {error === undefined ? null : <ErrorNote error={error} />}
      {isMissing ? <Empty text={t('This server lists automations by agent only.')} /> : null}
      {automations.error === null || isMissing ? null : (
        <ErrorNote error={automations.error} onRetry={() => void automations.refetch()} />
      )}
      {automations.isPending ? <Skeleton /> : null}
      {automations.isSuccess && rows.length === 0 ? <Empty text={t('Nothing runs on a schedule yet.')} /> : null}
      {rows.length === 0 ? null : (
        <Table columns={['Name', 'Subject', 'Schedule', 'Next run', 'Last run', 'Runs', '']}>
          {rows.map((automation) => (
            <Row key={automation.id} automation={automation} onAction={(action) => void act(automation, action)} />
          ))}
        </Table>
      )}
      {automations.hasNextPage ? (
        <Button onClick={() => void automations.fetchNextPage()}>{t('Load more')}</Button>
      ) : null}
    </>
  );
}

/** All automations of all agents and subjects. */
export function Automations() {
  return (
    <div className="page">
      <header className="page-head">
        <h1>{t('Automations')}</h1>
      </header>
      <AutomationList />
    </div>
  );
}
