import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { AgentVaults as Connected } from '../../../../clients/typescript/generated/vaults.ts';
import { get } from '../data/http.ts';
import { useCan } from '../data/queries.ts';
import { t } from '../i18n/t.ts';
import { Button } from '../parts/button.tsx';
import { Copy } from '../parts/copy.tsx';
import { ErrorNote } from '../parts/error-note.tsx';
import { Empty, Skeleton } from '../parts/states.tsx';
import { AgentVaultsForm } from './agent-vaults-form.tsx';

/** The text and colour of each state of a connection. */
const STATES: Record<Connected['connections'][number]['status'], string> = {
  public: 'needs no credential',
  connected: 'connected',
  reconnect: 'must be connected again',
  conflict: 'several vaults have a credential for it',
  unavailable: 'has no credential in these vaults',
};
const GOOD = new Set(['public', 'connected']);

/** The vaults of an agent, and the connections of its MCP servers. */
export function AgentVaults({ agentId }: { agentId: string }) {
  const canWrite = useCan('agents:write');
  const [isChoosing, setChoosing] = useState(false);
  const vaults = useQuery({
    queryKey: ['agent-vaults', agentId],
    queryFn: ({ signal }) => get<Connected>(`v1/agents/${encodeURIComponent(agentId)}/vaults`, {}, signal),
  });
  if (vaults.error !== null) return <ErrorNote error={vaults.error} onRetry={() => void vaults.refetch()} />;
  if (vaults.data === undefined) return <Skeleton />;
  const { data, connections } = vaults.data;
  return (
    <>
      {data.length === 0 ? (
        <Empty text={t('This agent has no vault. Vaults hold the credentials of its MCP servers.')} />
      ) : (
        <ul className="before">
          {data.map((vault) => (
            <li key={vault.id}>
              <span>{vault.displayName}</span>
              <span className="meta">
                <Copy text={vault.id} />
              </span>
            </li>
          ))}
        </ul>
      )}
      {canWrite ? (
        <div className="form-foot">
          <Button onClick={() => setChoosing(true)}>{t('Choose vaults')}</Button>
        </div>
      ) : null}
      {isChoosing ? (
        <AgentVaultsForm agentId={agentId} current={vaults.data} onClose={() => setChoosing(false)} />
      ) : null}
      <h2>{t('MCP servers of the latest version')}</h2>
      {connections.length === 0 ? <p className="meta">{t('It uses none.')}</p> : null}
      <ul className="before">
        {connections.map(({ mcpServerName, mcpServerUrl, status }) => (
          <li key={mcpServerName}>
            <span>
              {mcpServerName} <span className={GOOD.has(status) ? 'meta' : 'error-text'}>{t(STATES[status])}</span>
            </span>
            <span className="meta">{mcpServerUrl}</span>
          </li>
        ))}
      </ul>
    </>
  );
}
