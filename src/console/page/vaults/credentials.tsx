import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Credential } from '../../../../clients/typescript/generated/vaults.ts';
import { announce } from '../data/announce.ts';
import { request } from '../data/http.ts';
import { listAll, queries, useCan } from '../data/queries.ts';
import { useDraft } from '../data/use-draft.ts';
import { t } from '../i18n/t.ts';
import { Button } from '../parts/button.tsx';
import { Confirm } from '../parts/confirm.tsx';
import { Copy } from '../parts/copy.tsx';
import { ErrorNote } from '../parts/error-note.tsx';
import { FormDialog } from '../parts/form-dialog.tsx';
import { Skeleton } from '../parts/states.tsx';
import { formatDateTime } from '../text/format.ts';
import { CredentialFields, EMPTY_CREDENTIAL, buildCredential, buildRotation } from './credential-fields.tsx';

const MAX_PAGES = 20;
const TYPES: Record<string, string> = { static_bearer: 'bearer token', mcp_oauth: 'OAuth' };

type FormProps = { vaultId: string; credential?: Credential | undefined; onClose: () => void };

/** A new credential, or other secrets of one. */
function CredentialForm({ vaultId, credential, onClose }: FormProps) {
  const form = useDraft({
    ...EMPTY_CREDENTIAL,
    ...(credential === undefined ? {} : { displayName: credential.displayName, type: credential.auth.type }),
  });
  const path = `v1/vaults/${vaultId}/credentials`;
  const submit = async () => {
    if (credential === undefined) await request('POST', path, { body: buildCredential(form.draft) });
    else await request('PATCH', `${path}/${credential.id}`, { body: buildRotation(form.draft) });
    announce(t('Saved.'));
    void queries.invalidateQueries({ queryKey: ['credentials', vaultId] });
    onClose();
  };
  return (
    <FormDialog
      title={credential === undefined ? t('New credential') : t('Change {name}', { name: credential.displayName })}
      action={t('Save')}
      busyAction={t('Saving…')}
      onSubmit={submit}
      onClose={onClose}
    >
      <CredentialFields isNew={credential === undefined} {...form} />
      <p className="meta">{t('Secrets are stored sealed and are never shown again.')}</p>
    </FormDialog>
  );
}

type Item = { credential: Credential; onChange: () => void; onDelete: () => void };

function CredentialItem({ credential, onChange, onDelete }: Item) {
  const canDeploy = useCan('agents:deploy');
  const { auth } = credential;
  return (
    <li className="vault-credential">
      <span>
        {credential.displayName} {credential.archivedAt === null ? null : <span className="tag">{t('archived')}</span>}
      </span>
      <span className="meta">
        {t(TYPES[auth.type] ?? auth.type)} · {auth.mcpServerUrl} · <Copy text={credential.id} /> ·{' '}
        {formatDateTime(credential.updatedAt)}
        {auth.type === 'mcp_oauth' && auth.expiresAt !== null
          ? ` · ${t('expires {time}', { time: formatDateTime(auth.expiresAt) })}`
          : ''}
      </span>
      {canDeploy ? (
        <div className="form-foot">
          <Button onClick={onChange}>{t('Change')}</Button>
          <Button kind="danger" onClick={onDelete}>
            {t('Delete')}
          </Button>
        </div>
      ) : null}
    </li>
  );
}

/** The credentials of a vault, without their secrets. */
export function Credentials({ vaultId }: { vaultId: string }) {
  const canDeploy = useCan('agents:deploy');
  const [editing, setEditing] = useState<{ credential?: Credential }>();
  const [deleting, setDeleting] = useState<Credential>();
  const [error, setError] = useState<unknown>();
  const credentials = useQuery({
    queryKey: ['credentials', vaultId],
    queryFn: ({ signal }) => listAll<Credential>(`v1/vaults/${vaultId}/credentials`, MAX_PAGES, signal),
  });
  const remove = async (credential: Credential) => {
    setError(undefined);
    await request('DELETE', `v1/vaults/${vaultId}/credentials/${credential.id}`).catch(setError);
    await queries.invalidateQueries({ queryKey: ['credentials', vaultId] });
  };
  if (credentials.error !== null) {
    return <ErrorNote error={credentials.error} onRetry={() => void credentials.refetch()} />;
  }
  if (credentials.data === undefined) return <Skeleton rows={2} />;
  return (
    <>
      {error === undefined ? null : <ErrorNote error={error} />}
      {credentials.data.length === 0 ? (
        <p className="meta">{t('No credential is in this vault.')}</p>
      ) : (
        <ul className="before">
          {credentials.data.map((credential) => (
            <CredentialItem
              key={credential.id}
              credential={credential}
              onChange={() => setEditing({ credential })}
              onDelete={() => setDeleting(credential)}
            />
          ))}
        </ul>
      )}
      {canDeploy ? <Button onClick={() => setEditing({})}>{t('New credential')}</Button> : null}
      {editing === undefined ? null : (
        <CredentialForm vaultId={vaultId} {...editing} onClose={() => setEditing(undefined)} />
      )}
      {deleting === undefined ? null : (
        <Confirm
          title={t('Delete the credential {name}?', { name: deleting.displayName })}
          text={t('MCP servers that need it are no longer connected. This cannot be undone.')}
          action={t('Delete')}
          isDanger
          onConfirm={() => void remove(deleting)}
          onClose={() => setDeleting(undefined)}
        />
      )}
    </>
  );
}
