import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { StandingApproval } from '../../../../clients/typescript/generated/agents.ts';
import { request } from '../data/http.ts';
import { listAll, queries, useCan } from '../data/queries.ts';
import { t } from '../i18n/t.ts';
import { Button } from '../parts/button.tsx';
import { ErrorNote } from '../parts/error-note.tsx';
import { Empty, Skeleton } from '../parts/states.tsx';
import { Table } from '../parts/table.tsx';
import { formatDateTime } from '../text/format.ts';
import { SubjectChoice } from './subject-choice.tsx';

const MAX_PAGES = 10;

/** The tools that run without a question for one subject. */
function SubjectApprovals({ path }: { path: string }) {
  const canWrite = useCan('agents:write');
  const [error, setError] = useState<unknown>();
  const approvals = useQuery({
    queryKey: ['approvals', path],
    queryFn: ({ signal }) => listAll<StandingApproval>(path, MAX_PAGES, signal),
  });
  const revoke = async (tool: string) => {
    setError(undefined);
    await request('DELETE', `${path}/${encodeURIComponent(tool)}`).catch(setError);
    await queries.invalidateQueries({ queryKey: ['approvals', path] });
  };
  if (approvals.error !== null) return <ErrorNote error={approvals.error} onRetry={() => void approvals.refetch()} />;
  if (approvals.data === undefined) return <Skeleton rows={2} />;
  return (
    <>
      {error === undefined ? null : <ErrorNote error={error} />}
      {approvals.data.length === 0 ? (
        <Empty text={t('No tool is allowed always for this subject.')} />
      ) : (
        <Table columns={['Tool', 'Allowed', '']}>
          {approvals.data.map(({ tool, createdAt }) => (
            <tr key={tool}>
              <td className="mono">{tool}</td>
              <td className="cell-time">{formatDateTime(createdAt)}</td>
              <td>
                {canWrite ? (
                  <Button kind="danger" onClick={() => void revoke(tool)}>
                    {t('Revoke')}
                  </Button>
                ) : null}
              </td>
            </tr>
          ))}
        </Table>
      )}
    </>
  );
}

type Props = { agentId: string; subject: string; onSubject: (subject: string) => void };

/** What people have allowed always: each such tool runs without a question until it is revoked here. */
export function AgentApprovals({ agentId, subject, onSubject }: Props) {
  const path = `v1/agents/${encodeURIComponent(agentId)}/users/${encodeURIComponent(subject)}/approvals`;
  return (
    <>
      <SubjectChoice agentId={agentId} value={subject} onChange={onSubject} />
      {subject === '' ? (
        <p className="meta">{t('Choose a subject to see which tools are allowed always for it.')}</p>
      ) : (
        <SubjectApprovals key={path} path={path} />
      )}
    </>
  );
}
