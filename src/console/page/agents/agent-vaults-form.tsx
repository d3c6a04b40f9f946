import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { AgentVaults, Vault } from '../../../../clients/typescript/generated/vaults.ts';
import { request } from '../data/http.ts';
import { listAll, queries } from '../data/queries.ts';
import { t } from '../i18n/t.ts';
import { FormDialog } from '../parts/form-dialog.tsx';
import { ErrorNote } from '../parts/error-note.tsx';
import { Skeleton } from '../parts/states.tsx';

const MAX_PAGES = 20;

type Props = { agentId: string; current: AgentVaults; onClose: () => void };

/** Which vaults an agent may use. Saved only if nobody changed them since they were read. */
export function AgentVaultsForm({ agentId, current, onClose }: Props) {
  const [chosen, setChosen] = useState(() => new Set(current.data.map(({ id }) => id)));
  const vaults = useQuery({
    queryKey: ['vaults'],
    queryFn: ({ signal }) => listAll<Vault>('v1/vaults', MAX_PAGES, signal),
  });
  const submit = async () => {
    const body = { vaultIds: [...chosen], expectedUpdatedAt: current.updatedAt };
    await request('PUT', `v1/agents/${encodeURIComponent(agentId)}/vaults`, { body });
    await queries.invalidateQueries({ queryKey: ['agent-vaults', agentId] });
    onClose();
  };
  const toggle = (id: string, isChosen: boolean) =>
    setChosen((old) => new Set(isChosen ? [...old, id] : [...old].filter((each) => each !== id)));
  return (
    <FormDialog title={t('Vaults of the agent')} action={t('Save')} onSubmit={submit} onClose={onClose}>
      {vaults.error === null ? null : <ErrorNote error={vaults.error} onRetry={() => void vaults.refetch()} />}
      {vaults.isPending ? <Skeleton rows={2} /> : null}
      <fieldset className="scopes">
        <legend>{t('Vaults')}</legend>
        {vaults.data?.length === 0 ? <p className="meta">{t('There is no vault yet.')}</p> : null}
        {(vaults.data ?? []).map(({ id, displayName }) => (
          <label key={id} className="check">
            <input type="checkbox" checked={chosen.has(id)} onChange={(event) => toggle(id, event.target.checked)} />
            {displayName}
          </label>
        ))}
      </fieldset>
    </FormDialog>
  );
}
