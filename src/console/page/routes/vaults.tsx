import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Vault } from '../../../../clients/typescript/generated/vaults.ts';
import { request } from '../data/http.ts';
import { listAll, queries, useCan } from '../data/queries.ts';
import { useDraft } from '../data/use-draft.ts';
import { t } from '../i18n/t.ts';
import { Button } from '../parts/button.tsx';
import { Confirm } from '../parts/confirm.tsx';
import { Copy } from '../parts/copy.tsx';
import { ErrorNote } from '../parts/error-note.tsx';
import { TextField } from '../parts/field.tsx';
import { FormDialog } from '../parts/form-dialog.tsx';
import { Empty, Skeleton } from '../parts/states.tsx';
import { formatDateTime } from '../text/format.ts';
import { Credentials } from '../vaults/credentials.tsx';

const MAX_PAGES = 20;

function NewVault({ onCreated, onClose }: { onCreated: (vault: Vault) => void; onClose: () => void }) {
  const { draft, bind } = useDraft({ displayName: '' });
  const submit = async () => {
    const vault = await request<Vault>('POST', 'v1/vaults', { body: draft });
    await queries.invalidateQueries({ queryKey: ['vaults'] });
    onCreated(vault);
    onClose();
  };
  return (
    <FormDialog title={t('New vault')} action={t('Create')} onSubmit={submit} onClose={onClose}>
      <TextField label={t('Name')} name="displayName" required maxLength={200} autoFocus {...bind('displayName')} />
    </FormDialog>
  );
}

type RowProps = { vault: Vault; isOpen: boolean; onToggle: () => void; onDelete: () => void };

function VaultRow({ vault, isOpen, onToggle, onDelete }: RowProps) {
  const canDeploy = useCan('agents:deploy');
  return (
    <section className="note vault" aria-label={vault.displayName}>
      <div className="note-body">
        <h2>{vault.displayName}</h2>
        <p className="meta">
          <Copy text={vault.id} /> · {formatDateTime(vault.createdAt)}
        </p>
      </div>
      <Button onClick={onToggle} aria-expanded={isOpen}>
        {isOpen ? t('Close') : t('Credentials')}
      </Button>
      {canDeploy ? (
        <Button kind="danger" onClick={onDelete}>
          {t('Delete')}
        </Button>
      ) : null}
      {isOpen ? (
        <div className="vault-body">
          <Credentials vaultId={vault.id} />
        </div>
      ) : null}
    </section>
  );
}

/** Vaults and their credentials. Secrets never leave the server. */
export function Vaults() {
  const canWrite = useCan('agents:write');
  const [isCreating, setCreating] = useState(false);
  const [deleting, setDeleting] = useState<Vault>();
  const [open, setOpen] = useState<string>();
  const [error, setError] = useState<unknown>();
  const vaults = useQuery({
    queryKey: ['vaults'],
    queryFn: ({ signal }) => listAll<Vault>('v1/vaults', MAX_PAGES, signal),
  });
  const remove = async (vault: Vault) => {
    setError(undefined);
    await request('DELETE', `v1/vaults/${vault.id}`).catch(setError);
    await queries.invalidateQueries({ queryKey: ['vaults'] });
  };
  return (
    <div className="page page-narrow">
      <header className="page-head">
        <h1>{t('Vaults')}</h1>
        <span className="spacer" />
        {canWrite ? (
          <Button kind="primary" onClick={() => setCreating(true)}>
            {t('New vault')}
          </Button>
        ) : null}
      </header>
      {error === undefined ? null : <ErrorNote error={error} />}
      {vaults.error === null ? null : <ErrorNote error={vaults.error} onRetry={() => void vaults.refetch()} />}
      {vaults.isPending ? <Skeleton /> : null}
      {vaults.data?.length === 0 ? (
        <Empty text={t('There is no vault yet. Vaults hold the credentials of MCP servers.')} />
      ) : null}
      {(vaults.data ?? []).map((vault) => (
        <VaultRow
          key={vault.id}
          vault={vault}
          isOpen={open === vault.id}
          onToggle={() => setOpen(open === vault.id ? undefined : vault.id)}
          onDelete={() => setDeleting(vault)}
        />
      ))}
      {isCreating ? <NewVault onCreated={({ id }) => setOpen(id)} onClose={() => setCreating(false)} /> : null}
      {deleting === undefined ? null : (
        <Confirm
          title={t('Delete the vault {name}?', { name: deleting.displayName })}
          text={t('It must be empty: delete its credentials before.')}
          action={t('Delete')}
          isDanger
          onConfirm={() => void remove(deleting)}
          onClose={() => setDeleting(undefined)}
        />
      )}
    </div>
  );
}
