import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Credential, Vault } from '../../../../clients/typescript/generated/vaults.ts';
import { listAll } from '../data/queries.ts';
import { t } from '../i18n/t.ts';
import { Button } from '../parts/button.tsx';
import { Copy } from '../parts/copy.tsx';
import { ErrorNote } from '../parts/error-note.tsx';
import { Empty, Skeleton } from '../parts/states.tsx';
import { formatDateTime } from '../text/format.ts';

const MAX_PAGES = 20;

function Credentials({ vaultId }: { vaultId: string }) {
  const credentials = useQuery({
    queryKey: ['credentials', vaultId],
    queryFn: ({ signal }) => listAll<Credential>(`v1/vaults/${vaultId}/credentials`, MAX_PAGES, signal),
  });
  if (credentials.error !== null) {
    return <ErrorNote error={credentials.error} onRetry={() => void credentials.refetch()} />;
  }
  if (credentials.data === undefined) return <Skeleton rows={2} />;
  if (credentials.data.length === 0) return <p className="meta">{t('No credential is in this vault.')}</p>;
  return (
    <ul className="before">
      {credentials.data.map((credential) => (
        <li key={credential.id}>
          <span>
            {credential.displayName}{' '}
            {credential.archivedAt === null ? null : <span className="tag">{t('archived')}</span>}
          </span>
          <span className="meta">
            {credential.auth.type} · <Copy text={credential.id} /> · {formatDateTime(credential.updatedAt)}
          </span>
        </li>
      ))}
    </ul>
  );
}

function VaultRow({ vault }: { vault: Vault }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <section className="note vault">
      <div className="note-body">
        <h2>{vault.displayName}</h2>
        <p className="meta">
          <Copy text={vault.id} /> · {formatDateTime(vault.createdAt)}
        </p>
        {isOpen ? <Credentials vaultId={vault.id} /> : null}
      </div>
      <Button onClick={() => setOpen(!isOpen)} aria-expanded={isOpen}>
        {isOpen ? t('Close') : t('Credentials')}
      </Button>
    </section>
  );
}

/** Vaults and their credentials. Secrets never leave the server. */
export function Vaults() {
  const vaults = useQuery({
    queryKey: ['vaults'],
    queryFn: ({ signal }) => listAll<Vault>('v1/vaults', MAX_PAGES, signal),
  });
  return (
    <div className="page page-narrow">
      <header className="page-head">
        <h1>{t('Vaults')}</h1>
      </header>
      {vaults.error === null ? null : <ErrorNote error={vaults.error} onRetry={() => void vaults.refetch()} />}
      {vaults.isPending ? <Skeleton /> : null}
      {vaults.data?.length === 0 ? (
        <Empty text={t('There is no vault yet. Vaults hold the credentials of MCP servers.')} />
      ) : null}
      {(vaults.data ?? []).map((vault) => (
        <VaultRow key={vault.id} vault={vault} />
      ))}
    </div>
  );
}
