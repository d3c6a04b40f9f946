import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Organization } from '../../../../clients/typescript/generated/organizations.ts';
import { ROLE_SCOPES } from '../../../../clients/typescript/generated/roles.ts';
import { NewSecret } from '../admin/new-secret.tsx';
import type { KeyCreated } from '../admin/key-form.tsx';
import { request } from '../data/http.ts';
import { listAll, queries, useCaller, useCan } from '../data/queries.ts';
import { useDraft } from '../data/use-draft.ts';
import { t } from '../i18n/t.ts';
import { Button } from '../parts/button.tsx';
import { Copy } from '../parts/copy.tsx';
import { ErrorNote } from '../parts/error-note.tsx';
import { TextField } from '../parts/field.tsx';
import { FormDialog } from '../parts/form-dialog.tsx';
import { Skeleton } from '../parts/states.tsx';
import { Table } from '../parts/table.tsx';
import { formatDateTime } from '../text/format.ts';

const MAX_PAGES = 20;
/** The organization of the first key: its owners manage the others. */
const FIRST = 'default';

/** An organization begins with its first key, which manages it. */
function NewOrganization({ onClose }: { onClose: () => void }) {
  const { draft, bind } = useDraft({ organization: '', name: 'admin' });
  const [created, setCreated] = useState<KeyCreated>();
  const submit = async () => {
    const body = { ...draft, scopes: ROLE_SCOPES['owner'] };
    setCreated(await request<KeyCreated>('POST', 'v1/api-keys', { body }));
    for (const key of ['organizations', 'api-keys']) void queries.invalidateQueries({ queryKey: [key] });
  };
  if (created !== undefined) return <NewSecret created={created} onClose={onClose} />;
  return (
    <FormDialog title={t('New organization')} action={t('Create')} onSubmit={submit} onClose={onClose}>
      <TextField
        label={t('Name')}
        name="organization"
        required
        maxLength={64}
        autoFocus
        spellCheck={false}
        {...bind('organization')}
      />
      <TextField
        label={t('Name of its first key')}
        help={t('The key manages the organization. Sign in with it to see the organization.')}
        name="name"
        required
        maxLength={200}
        {...bind('name')}
      />
    </FormDialog>
  );
}

function Row({ organization, isOwn }: { organization: Organization; isOwn: boolean }) {
  return (
    <tr>
      <td className="cell-title">
        {organization.name} {isOwn ? <span className="tag">{t('signed in')}</span> : null}
      </td>
      <td>
        <Copy text={organization.id} />
      </td>
      <td className="cell-time">{formatDateTime(organization.createdAt)}</td>
    </tr>
  );
}

/** The organizations whose keys the caller manages. */
export function Organizations() {
  const { data: caller } = useCaller();
  const isOwner = useCan('owner');
  const canCreate = isOwner && caller?.organization === FIRST;
  const [isCreating, setCreating] = useState(false);
  const organizations = useQuery({
    queryKey: ['organizations'],
    queryFn: ({ signal }) => listAll<Organization>('v1/organizations', MAX_PAGES, signal),
  });
  return (
    <div className="page">
      <header className="page-head">
        <h1>{t('Organizations')}</h1>
        <span className="spacer" />
        {canCreate ? (
          <Button kind="primary" onClick={() => setCreating(true)}>
            {t('New organization')}
          </Button>
        ) : null}
      </header>
      {organizations.error === null ? null : (
        <ErrorNote error={organizations.error} onRetry={() => void organizations.refetch()} />
      )}
      {organizations.isPending ? <Skeleton rows={2} /> : null}
      {organizations.data === undefined ? null : (
        <Table columns={['Name', 'Id', 'Created']}>
          {organizations.data.map((organization) => (
            <Row key={organization.id} organization={organization} isOwn={organization.id === caller?.organizationId} />
          ))}
        </Table>
      )}
      {isCreating ? <NewOrganization onClose={() => setCreating(false)} /> : null}
    </div>
  );
}
