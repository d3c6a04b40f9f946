import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { FormEvent } from 'react';
import { request } from '../data/http.ts';
import { listAll, queries } from '../data/queries.ts';
import type { ApiKey } from '../data/types.ts';
import { t } from '../i18n/t.ts';
import { Button } from '../parts/button.tsx';
import { Confirm } from '../parts/confirm.tsx';
import { Copy } from '../parts/copy.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { ErrorNote } from '../parts/error-note.tsx';
import { TextField } from '../parts/field.tsx';
import { Empty, Skeleton } from '../parts/states.tsx';
import { Table } from '../parts/table.tsx';
import { formatDateTime } from '../text/format.ts';

type Created = ApiKey & { key: string };

const SCOPES = ['agents:read', 'agents:write', 'agents:approve', 'inference', 'templates:read', 'login', 'admin'];
const MAX_PAGES = 20;

function Scopes({ scopes, onChange }: { scopes: readonly string[]; onChange: (scopes: string[]) => void }) {
  return (
    <fieldset className="scopes">
      <legend>{t('Scopes')}</legend>
      {SCOPES.map((scope) => (
        <label key={scope} className="check">
          <input
            type="checkbox"
            checked={scopes.includes(scope)}
            onChange={(event) =>
              onChange(event.target.checked ? [...scopes, scope] : scopes.filter((each) => each !== scope))
            }
          />
          <code>{scope}</code>
        </label>
      ))}
    </fieldset>
  );
}

function CreateKey({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState('');
  const [scopes, setScopes] = useState(['agents:read', 'agents:write']);
  const [error, setError] = useState<unknown>();
  const [created, setCreated] = useState<Created>();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setError(undefined);
    try {
      setCreated(await request<Created>('POST', 'v1/api-keys', { body: { name, scopes } }));
      void queries.invalidateQueries({ queryKey: ['api-keys'] });
    } catch (thrown) {
      setError(thrown);
    }
  };
  if (created !== undefined) {
    return (
      <Dialog title={t('The key of {name}', { name: created.name })} onClose={onClose}>
        <p>{t('It is shown this once only. Copy it now.')}</p>
        <p className="new-key">
          <Copy text={created.key} label={t('the key')} />
        </p>
        <div className="dialog-foot">
          <Button kind="primary" onClick={onClose}>
            {t('Done')}
          </Button>
        </div>
      </Dialog>
    );
  }
  return (
    <Dialog title={t('New API key')} onClose={onClose}>
      <form className="form" onSubmit={(event) => void submit(event)}>
        <TextField
          label={t('Name')}
          value={name}
          onChange={(event) => setName(event.target.value)}
          required
          maxLength={200}
          autoFocus
        />
        <Scopes scopes={scopes} onChange={setScopes} />
        {error === undefined ? null : <ErrorNote error={error} />}
        <div className="dialog-foot">
          <Button onClick={onClose}>{t('Cancel')}</Button>
          <Button kind="primary" type="submit" disabled={name === '' || scopes.length === 0}>
            {t('Create')}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function KeyRow({ apiKey, onRevoke }: { apiKey: ApiKey; onRevoke: () => void }) {
  return (
    <tr>
      <td>{apiKey.name}</td>
      <td className="mono">{apiKey.prefix}…</td>
      <td>{apiKey.organization}</td>
      <td className="cell-scopes">{apiKey.scopes.join(', ')}</td>
      <td>{formatDateTime(apiKey.createdAt)}</td>
      <td>
        {apiKey.revokedAt === null ? (
          <Button kind="danger" onClick={onRevoke}>
            {t('Revoke')}
          </Button>
        ) : (
          <span className="meta">{t('revoked')}</span>
        )}
      </td>
    </tr>
  );
}

/** The API keys that the caller may manage. */
export function Keys() {
  const [isCreating, setCreating] = useState(false);
  const [revoking, setRevoking] = useState<ApiKey>();
  const [error, setError] = useState<unknown>();
  const keys = useQuery({
    queryKey: ['api-keys'],
    queryFn: ({ signal }) => listAll<ApiKey>('v1/api-keys', MAX_PAGES, signal),
  });
  const revoke = async (apiKey: ApiKey) => {
    setError(undefined);
    await request('DELETE', `v1/api-keys/${encodeURIComponent(apiKey.id)}`).catch(setError);
    await queries.invalidateQueries({ queryKey: ['api-keys'] });
  };
  return (
    <div className="page">
      <header className="page-head">
        <h1>{t('API keys')}</h1>
        <span className="spacer" />
        <Button kind="primary" onClick={() => setCreating(true)}>
          {t('New key')}
        </Button>
      </header>
      {error === undefined ? null : <ErrorNote error={error} />}
      {keys.error === null ? null : <ErrorNote error={keys.error} onRetry={() => void keys.refetch()} />}
      {keys.isPending ? <Skeleton /> : null}
      {keys.data?.length === 0 ? <Empty text={t('There is no key.')} /> : null}
      {keys.data === undefined || keys.data.length === 0 ? null : (
        <Table columns={['Name', 'Begins', 'Organization', 'Scopes', 'Created', 'State']}>
          {keys.data.map((apiKey) => (
            <KeyRow key={apiKey.id} apiKey={apiKey} onRevoke={() => setRevoking(apiKey)} />
          ))}
        </Table>
      )}
      {isCreating ? <CreateKey onClose={() => setCreating(false)} /> : null}
      {revoking === undefined ? null : (
        <Confirm
          title={t('Revoke {name}?', { name: revoking.name })}
          text={t(
            'It stops working within five seconds, and browsers signed in with it are signed out. This cannot be undone.',
          )}
          action={t('Revoke')}
          isDanger
          onConfirm={() => void revoke(revoking)}
          onClose={() => setRevoking(undefined)}
        />
      )}
    </div>
  );
}
