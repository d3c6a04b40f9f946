import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { KeyForm } from '../admin/key-form.tsx';
import type { KeyCreated } from '../admin/key-form.tsx';
import { NewSecret } from '../admin/new-secret.tsx';
import { findRole } from '../admin/roles.ts';
import { request } from '../data/http.ts';
import { listAll, queries } from '../data/queries.ts';
import type { ApiKey } from '../data/types.ts';
import { t } from '../i18n/t.ts';
import { Button } from '../parts/button.tsx';
import { Confirm } from '../parts/confirm.tsx';
import { ErrorNote } from '../parts/error-note.tsx';
import { Choice } from '../parts/field.tsx';
import { FormDialog } from '../parts/form-dialog.tsx';
import { Empty, Skeleton } from '../parts/states.tsx';
import { Table } from '../parts/table.tsx';
import { formatAge, formatDate, formatDateTime } from '../text/format.ts';

const MAX_PAGES = 20;
const GRACE_PERIODS = [
  ['0', 'not at all'],
  ['3600', 'an hour'],
  ['86400', 'a day'],
  ['604800', 'a week'],
] as const;

type Action = 'change' | 'rotate' | 'revoke';

/** Until when a key works, and when it was used last. */
function Times({ apiKey: { createdAt, expiresAt, lastUsedAt } }: { apiKey: ApiKey }) {
  const isExpired = expiresAt !== null && Date.parse(expiresAt) <= Date.now();
  return (
    <>
      <td className="cell-time" title={formatDateTime(createdAt)}>
        {formatDate(createdAt)}
      </td>
      {expiresAt === null ? (
        <td className="cell-time">{t('never')}</td>
      ) : (
        <td className={isExpired ? 'cell-time error-text' : 'cell-time'} title={formatDateTime(expiresAt)}>
          {formatDate(expiresAt)}
        </td>
      )}
      {lastUsedAt === null ? (
        <td>–</td>
      ) : (
        <td className="cell-time" title={formatDateTime(lastUsedAt)}>
          {t('{age} ago', { age: formatAge(lastUsedAt) })}
        </td>
      )}
    </>
  );
}

function KeyRow({ apiKey, onAction }: { apiKey: ApiKey; onAction: (action: Action) => void }) {
  const { name, prefix, organization, scopes, models, revokedAt } = apiKey;
  const role = findRole(scopes);
  return (
    <tr>
      <td>{name}</td>
      <td className="mono">{prefix}…</td>
      <td>{organization}</td>
      <td className="cell-scopes" title={scopes.join(', ')}>
        {role === undefined ? scopes.join(', ') : t(role)}
        {models === null ? null : <span className="meta"> {t('models: {list}', { list: models.join(', ') })}</span>}
      </td>
      <Times apiKey={apiKey} />
      <td>
        {revokedAt === null ? (
          <div className="form-foot row-actions">
            <Button onClick={() => onAction('change')}>{t('Change')}</Button>
            <Button onClick={() => onAction('rotate')}>{t('Rotate')}</Button>
            <Button kind="danger" onClick={() => onAction('revoke')}>
              {t('Revoke')}
            </Button>
          </div>
        ) : (
          <span className="meta">{t('revoked')}</span>
        )}
      </td>
    </tr>
  );
}

type Chosen = { apiKey: ApiKey; action: Action };
type ActionProps = Chosen & { onError: (error: unknown) => void; onClose: () => void };

/** The dialog of one action. */
function KeyAction({ apiKey, action, onError, onClose }: ActionProps) {
  const [rotated, setRotated] = useState<KeyCreated>();
  const [grace, setGrace] = useState('86400');
  const path = `v1/api-keys/${encodeURIComponent(apiKey.id)}`;
  const reload = () => queries.invalidateQueries({ queryKey: ['api-keys'] });
  const revoke = async () => {
    await request('DELETE', path).catch(onError);
    await reload();
  };
  const rotate = async () => {
    setRotated(await request<KeyCreated>('POST', `${path}/rotate`, { body: { gracePeriodSeconds: Number(grace) } }));
    await reload();
  };
  if (action === 'change') return <KeyForm apiKey={apiKey} onClose={onClose} />;
  if (rotated !== undefined) return <NewSecret created={rotated} onClose={onClose} />;
  if (action === 'rotate') {
    return (
      <FormDialog
        title={t('Give {name} a new secret?', { name: apiKey.name })}
        action={t('Rotate')}
        onSubmit={rotate}
        onClose={onClose}
      >
        <Choice
          label={t('The secret before works on for')}
          value={grace}
          options={GRACE_PERIODS.map(([seconds, text]) => [seconds, t(text)])}
          onChange={setGrace}
        />
      </FormDialog>
    );
  }
  return (
    <Confirm
      title={t('Revoke {name}?', { name: apiKey.name })}
      text={t(
        'It stops working within five seconds, and browsers signed in with it are signed out. This cannot be undone.',
      )}
      action={t('Revoke')}
      isDanger
      onConfirm={() => void revoke()}
      onClose={onClose}
    />
  );
}

/** The API keys that the caller may manage. */
export function Keys() {
  const [isCreating, setCreating] = useState(false);
  const [chosen, setChosen] = useState<Chosen>();
  const [error, setError] = useState<unknown>();
  const keys = useQuery({
    queryKey: ['api-keys'],
    queryFn: ({ signal }) => listAll<ApiKey>('v1/api-keys', MAX_PAGES, signal),
  });
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
        <Table columns={['Name', 'Begins', 'Organization', 'May', 'Created', 'Expires', 'Last used', '']}>
          {keys.data.map((apiKey) => (
            <KeyRow key={apiKey.id} apiKey={apiKey} onAction={(action) => setChosen({ apiKey, action })} />
          ))}
        </Table>
      )}
      {isCreating ? <KeyForm onClose={() => setCreating(false)} /> : null}
      {chosen === undefined ? null : <KeyAction {...chosen} onError={setError} onClose={() => setChosen(undefined)} />}
    </div>
  );
}
