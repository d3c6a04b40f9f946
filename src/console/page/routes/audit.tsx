import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import type { AuditRecord, AuditVerification } from '../../../../clients/typescript/generated/audit.ts';
import { get } from '../data/http.ts';
import { useAudit } from '../data/queries.ts';
import { t } from '../i18n/t.ts';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { ErrorNote } from '../parts/error-note.tsx';
import { JsonView } from '../parts/json-view.tsx';
import { Empty, Skeleton } from '../parts/states.tsx';
import { Table } from '../parts/table.tsx';
import { formatDateTime } from '../text/format.ts';

const route = getRouteApi('/admin/audit');

function Row({ record, onOpen }: { record: AuditRecord; onOpen: () => void }) {
  const { actor, resource } = record;
  return (
    <tr>
      <td className="cell-time">{formatDateTime(record.time)}</td>
      <td>
        <button type="button" className="link" onClick={onOpen}>
          {record.action}
        </button>
      </td>
      <td className="cell-agent" title={actor.name}>
        {actor.name === '' ? actor.type : actor.name}
      </td>
      <td className="mono">{resource.id ?? resource.type ?? '–'}</td>
      <td>{record.outcome === 'success' ? t('done') : <span className="error-text">{t('failed')}</span>}</td>
      <td className="mono">{actor.ip ?? '–'}</td>
    </tr>
  );
}

/** Verifies the chain of all records on the server. */
function Verify() {
  const [result, setResult] = useState<AuditVerification>();
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const verify = async () => {
    setBusy(true);
    setError(undefined);
    await get<AuditVerification>('v1/audit/verify').then(setResult, setError);
    setBusy(false);
  };
  return (
    <>
      <Button disabled={isBusy} onClick={() => void verify()}>
        {isBusy ? t('Verifying…') : t('Verify the chain')}
      </Button>
      {result === undefined ? null : (
        <span className={result.ok ? 'meta' : 'error-text'} role="status">
          {result.ok
            ? t('{n} records, unchanged', { n: result.checked.toLocaleString() })
            : t('Record {n} is {reason}', {
                n: result.brokenAt?.sequence ?? '?',
                reason: result.brokenAt?.reason ?? '',
              })}
        </span>
      )}
      {error === undefined ? null : <ErrorNote error={error} />}
    </>
  );
}

type Filters = { actor?: string; action?: string; resource?: string };
const FIELDS: readonly (readonly [keyof Filters, string])[] = [
  ['action', 'Action, such as createAgent'],
  ['actor', 'Id of a key or a person'],
  ['resource', 'Id or type of what changed'],
];

/** The audit log, newest first. */
export function AuditPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const [open, setOpen] = useState<AuditRecord>();
  const audit = useAudit({ actor: search.actor, action: search.action, resource: search.resource });
  const rows = (audit.data?.pages ?? []).flatMap(({ data }) => data);
  return (
    <div className="page">
      <header className="page-head">
        <h1>{t('Audit')}</h1>
        <span className="spacer" />
        <Verify />
      </header>
      <div className="filters" role="group" aria-label={t('Filters')}>
        {FIELDS.map(([name, text]) => (
          <input
            key={name}
            type="search"
            className="filter-long"
            aria-label={t(text)}
            placeholder={t(text)}
            defaultValue={search[name] ?? ''}
            maxLength={256}
            onKeyDown={(event) => {
              if (event.key !== 'Enter') return;
              const value = event.currentTarget.value.trim();
              void navigate({ search: (old) => ({ ...old, [name]: value === '' ? undefined : value }), replace: true });
            }}
          />
        ))}
      </div>
      {audit.error === null ? null : <ErrorNote error={audit.error} onRetry={() => void audit.refetch()} />}
      {audit.isPending ? <Skeleton /> : null}
      {audit.isSuccess && rows.length === 0 ? <Empty text={t('No record matches.')} /> : null}
      {rows.length === 0 ? null : (
        <Table columns={['Time', 'Action', 'By', 'On', 'Outcome', 'Address']}>
          {rows.map((record) => (
            <Row key={record.id} record={record} onOpen={() => setOpen(record)} />
          ))}
        </Table>
      )}
      {audit.hasNextPage ? <Button onClick={() => void audit.fetchNextPage()}>{t('Load more')}</Button> : null}
      {open === undefined ? null : (
        <Dialog title={open.action} onClose={() => setOpen(undefined)} className="dialog-wide">
          <JsonView value={open} />
        </Dialog>
      )}
    </div>
  );
}
