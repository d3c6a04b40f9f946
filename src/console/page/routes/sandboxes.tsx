import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Sandbox } from '../../../../clients/typescript/generated/sessions.ts';
import { request } from '../data/http.ts';
import { queries, useCan, useSandboxes } from '../data/queries.ts';
import { useNow } from '../data/use-now.ts';
import { t } from '../i18n/t.ts';
import { Button } from '../parts/button.tsx';
import { Confirm } from '../parts/confirm.tsx';
import { ErrorNote } from '../parts/error-note.tsx';
import { Empty, Skeleton } from '../parts/states.tsx';
import { Status } from '../parts/status.tsx';
import type { StatusKind } from '../parts/status.tsx';
import { Table } from '../parts/table.tsx';
import type { Column } from '../parts/table.tsx';
import { formatAge, formatBytes, formatDateTime } from '../text/format.ts';

const COLUMNS: readonly Column[] = [
  'State',
  'Session',
  'Agent',
  'Subject',
  { name: 'Since', isNumber: true },
  { name: 'Files', isNumber: true },
  'Node',
  '',
];
const KINDS: Record<Sandbox['phase'], StatusKind> = {
  starting: 'starting',
  running: 'running',
  stopping: 'stopping',
  failed: 'failed',
};

function Volume({ volume }: { volume: Sandbox['volume'] }) {
  if (volume === null) return '–';
  const { usedBytes, sizeBytes } = volume;
  return (
    <span title={t('{used} of {size}', { used: formatBytes(usedBytes), size: formatBytes(sizeBytes) })}>
      {formatBytes(usedBytes)}
    </span>
  );
}

function Row({ sandbox, now, onStop }: { sandbox: Sandbox; now: number; onStop: () => void }) {
  const { sessionId, sessionTitle, agentId, agentName, subjectId, phase, reason, startedAt, node } = sandbox;
  const canWrite = useCan('agents:write');
  return (
    <tr>
      <td>
        <Status kind={KINDS[phase]} />
        {reason === null ? null : <p className="meta">{reason}</p>}
      </td>
      <td className="cell-title">
        <Link to="/sessions/$sessionId" params={{ sessionId }}>
          {sessionTitle ?? t('Untitled')}
        </Link>
      </td>
      <td>
        <Link to="/agents/$agentId/$tab" params={{ agentId, tab: 'overview' }}>
          {agentName ?? agentId}
        </Link>
      </td>
      <td>{subjectId}</td>
      <td className="cell-number" title={startedAt === null ? '' : formatDateTime(startedAt)}>
        {startedAt === null ? '–' : formatAge(startedAt, now)}
      </td>
      <td className="cell-number">
        <Volume volume={sandbox.volume} />
      </td>
      <td>{node ?? '–'}</td>
      <td>{canWrite ? <Button onClick={onStop}>{t('Stop')}</Button> : null}</td>
    </tr>
  );
}

function SandboxTable({ rows, onStop }: { rows: readonly Sandbox[]; onStop: (sandbox: Sandbox) => void }) {
  const now = useNow(1000);
  return (
    <Table columns={COLUMNS}>
      {rows.map((sandbox) => (
        <Row key={sandbox.sessionId} sandbox={sandbox} now={now} onStop={() => onStop(sandbox)} />
      ))}
    </Table>
  );
}

/** Where commands run now, and a way to end what hangs. */
export function Sandboxes() {
  const sandboxes = useSandboxes();
  const [chosen, setChosen] = useState<Sandbox>();
  const [error, setError] = useState<unknown>();
  const rows = (sandboxes.data?.pages ?? []).flatMap(({ data }) => data);
  const stop = async ({ sessionId }: Sandbox) => {
    setChosen(undefined);
    setError(undefined);
    await request('DELETE', `v1/sessions/${encodeURIComponent(sessionId)}/sandbox`).catch(setError);
    await queries.invalidateQueries({ queryKey: ['sandboxes'] });
  };
  return (
    <div className="page">
      <header className="page-head">
        <h1>{t('Sandboxes')}</h1>
      </header>
      {error === undefined ? null : <ErrorNote error={error} />}
      {sandboxes.error === null ? null : <ErrorNote error={sandboxes.error} onRetry={() => void sandboxes.refetch()} />}
      {sandboxes.isPending ? <Skeleton /> : null}
      {sandboxes.isSuccess && rows.length === 0 ? (
        <Empty text={t('No sandbox runs. One starts with the first command of a session, and ends when it is idle.')} />
      ) : null}
      {rows.length === 0 ? null : <SandboxTable rows={rows} onStop={setChosen} />}
      {sandboxes.hasNextPage ? <Button onClick={() => void sandboxes.fetchNextPage()}>{t('Load more')}</Button> : null}
      {chosen === undefined ? null : (
        <Confirm
          title={t('Stop the sandbox?')}
          text={t('Every process in it ends. The files stay, and the next command starts another sandbox.')}
          action={t('Stop')}
          onConfirm={() => void stop(chosen)}
          onClose={() => setChosen(undefined)}
        />
      )}
    </div>
  );
}
