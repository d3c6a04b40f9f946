import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Automation } from '../../../../clients/typescript/generated/automations.ts';
import { AutomationForm, buildAutomationsPath } from '../agents/automation-form.tsx';
import { isStatus, request } from '../data/http.ts';
import { queries, useAllAgents, useAutomations, useCan } from '../data/queries.ts';
import { t } from '../i18n/t.ts';
import { Button } from '../parts/button.tsx';
import { Confirm } from '../parts/confirm.tsx';
import { ErrorNote } from '../parts/error-note.tsx';
import { Empty, Skeleton } from '../parts/states.tsx';
import { Table } from '../parts/table.tsx';
import { formatDateTime } from '../text/format.ts';

const COLUMNS = ['Name', 'Subject', 'Schedule', 'Next run', 'Last run', 'Runs', ''];
const ALL_COLUMNS = COLUMNS.toSpliced(2, 0, 'Agent');

type Action = 'pause' | 'resume' | 'trigger';

function buildPath({ agentId, subjectId, id }: Automation): string {
  return `${buildAutomationsPath(agentId, subjectId)}/${id}`;
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

type RowProps = {
  automation: Automation;
  /** the name of the agent, in a list of all agents */
  agentName: string | undefined;
  onAction: (action: Action) => void;
  onEdit: () => void;
  onDelete: () => void;
};

function Row({ automation, agentName, onAction, onEdit, onDelete }: RowProps) {
  const canWrite = useCan('agents:write');
  return (
    <tr>
      <td>{automation.name ?? automation.prompt.slice(0, 60)}</td>
      <td>{automation.subjectId}</td>
      {agentName === undefined ? null : (
        <td>
          <Link to="/agents/$agentId/$tab" params={{ agentId: automation.agentId, tab: 'automations' }}>
            {agentName}
          </Link>
        </td>
      )}
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

/** Automations with their next and last runs: of all agents, or of one. */
export function AutomationList({ agentId }: { agentId?: string }) {
  const automations = useAutomations(agentId);
  const agents = useAllAgents();
  const nameOf = (id: string) => agents.find((agent) => agent.id === id)?.name ?? id;
  const [error, setError] = useState<unknown>();
  const [editing, setEditing] = useState<Automation>();
  const [deleting, setDeleting] = useState<Automation>();
  const rows = (automations.data?.pages ?? []).flatMap(({ data }) => data);
  const send = async (method: string, path: string) => {
    setError(undefined);
    await request(method, path).catch(setError);
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
        <Table columns={agentId === undefined ? ALL_COLUMNS : COLUMNS}>
          {rows.map((automation) => (
            <Row
              key={automation.id}
              automation={automation}
              agentName={agentId === undefined ? nameOf(automation.agentId) : undefined}
              onAction={(action) => void send('POST', `${buildPath(automation)}/${action}`)}
              onEdit={() => setEditing(automation)}
              onDelete={() => setDeleting(automation)}
            />
          ))}
        </Table>
      )}
      {automations.hasNextPage ? (
        <Button onClick={() => void automations.fetchNextPage()}>{t('Load more')}</Button>
      ) : null}
      {editing === undefined ? null : <AutomationForm automation={editing} onClose={() => setEditing(undefined)} />}
      {deleting === undefined ? null : (
        <Confirm
          title={t('Delete this automation?')}
          text={t('It no longer runs. The sessions of its runs stay.')}
          action={t('Delete')}
          isDanger
          onConfirm={() => void send('DELETE', buildPath(deleting))}
          onClose={() => setDeleting(undefined)}
        />
      )}
    </>
  );
}

/** Opens the form of a new automation, for those who may make one. */
export function NewAutomation({ agentId }: { agentId?: string }) {
  const canWrite = useCan('agents:write');
  const [isOpen, setOpen] = useState(false);
  if (!canWrite) return null;
  return (
    <>
      <Button kind="primary" onClick={() => setOpen(true)}>
        {t('New automation')}
      </Button>
      {isOpen ? <AutomationForm agentId={agentId} onClose={() => setOpen(false)} /> : null}
    </>
  );
}

/** All automations of all agents and subjects. */
export function Automations() {
  return (
    <div className="page">
      <header className="page-head">
        <h1>{t('Automations')}</h1>
        <span className="spacer" />
        <NewAutomation />
      </header>
      <AutomationList />
    </div>
  );
}
