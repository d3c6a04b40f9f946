import { useState } from 'react';
import type { FormEvent } from 'react';
import { buildUrl, request } from '../data/http.ts';
import { queries, useCan, useLogins } from '../data/queries.ts';
import type { Login } from '../data/types.ts';
import { useNow } from '../data/use-now.ts';
import { t } from '../i18n/t.ts';
import { Button } from '../parts/button.tsx';
import { Copy } from '../parts/copy.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { ErrorNote } from '../parts/error-note.tsx';
import { TextField } from '../parts/field.tsx';
import { Empty, Skeleton } from '../parts/states.tsx';
import { Status } from '../parts/status.tsx';
import type { StatusKind } from '../parts/status.tsx';
import { formatAge, formatDateTime, formatDuration } from '../text/format.ts';

const STATES = {
  running: 'running',
  waiting: 'waiting',
  succeeded: 'done',
  failed: 'failed',
} as const satisfies Record<Login['status'], StatusKind>;

function pathOf({ id }: Login): string {
  return `api/logins/${encodeURIComponent(id)}`;
}

/** The code that a website has sent to a person. */
function CodeForm({ login, challengeId }: { login: Login; challengeId: string }) {
  const [code, setCode] = useState('');
  const [error, setError] = useState<unknown>();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setError(undefined);
    await request('POST', `${pathOf(login)}/input`, { body: { challengeId, code: code.trim() } }).catch(setError);
    await queries.invalidateQueries({ queryKey: ['logins'] });
  };
  return (
    <form className="form" onSubmit={(event) => void submit(event)}>
      <TextField
        label={t('Code')}
        value={code}
        onChange={(event) => setCode(event.target.value)}
        autoComplete="one-time-code"
        inputMode="text"
        maxLength={200}
        required
      />
      {error === undefined ? null : <ErrorNote error={error} />}
      <div className="form-foot">
        <Button kind="primary" type="submit" disabled={code.trim() === ''}>
          {t('Send the code')}
        </Button>
      </div>
    </form>
  );
}

/** What a login waits for, and how long it still does. */
function Waiting({ login }: { login: Login }) {
  const now = useNow(1000);
  const canAct = useCan('login');
  const { action, helpUrl } = login;
  if (action === null) return null;
  const left = Date.parse(action.expiresAt) - now;
  return (
    <>
      <p>
        {action.hint ?? action.kind}{' '}
        <span className="meta">
          {left > 0 ? t('{time} left', { time: formatDuration(left) }) : t('The time is up.')}
        </span>
      </p>
      {canAct && action.fields.includes('code') ? (
        <CodeForm key={action.challengeId} login={login} challengeId={action.challengeId} />
      ) : null}
      {helpUrl === null ? null : (
        <p>
          <a href={helpUrl} target="_blank" rel="noreferrer" className="button">
            {t('Help in the page')}
          </a>
        </p>
      )}
    </>
  );
}

function Picture({ login, onClose }: { login: Login; onClose: () => void }) {
  return (
    <Dialog title={login.origin} onClose={onClose}>
      <img
        className="login-picture"
        src={buildUrl(`${pathOf(login)}/picture`)}
        alt={t('The page at the end of this login, with its fields covered')}
      />
    </Dialog>
  );
}

function Row({ login, onPicture }: { login: Login; onPicture: () => void }) {
  const now = useNow(1000);
  const { origin, usernameHint, operation, method, error, startedAt, durationMs, hasPicture } = login;
  return (
    <section className="note login">
      <div className="note-body">
        <h2>
          <Status kind={STATES[login.status]} /> {origin}
        </h2>
        <p className="meta">
          {[usernameHint, operation, method].filter((part) => part !== null && part !== '').join(' · ')} ·{' '}
          <span title={formatDateTime(startedAt)}>{t('{age} ago', { age: formatAge(startedAt, now) })}</span>
          {durationMs === null ? null : ` · ${formatDuration(durationMs)}`} · <Copy text={login.id} />
        </p>
        {error === null ? null : (
          <p className="error-text">
            {error.message} <code>{error.error}</code>
          </p>
        )}
        <Waiting login={login} />
      </div>
      {hasPicture ? <Button onClick={onPicture}>{t('Picture')}</Button> : null}
    </section>
  );
}

/** Sign-ins at websites: those that wait for a person first by their state, the rest newest first. */
export function Logins() {
  const logins = useLogins();
  const [shown, setShown] = useState<Login>();
  const rows = (logins.data?.pages ?? []).flatMap(({ data }) => data);
  const waiting = rows.filter(({ status }) => status === 'waiting');
  const others = rows.filter(({ status }) => status !== 'waiting');
  return (
    <div className="page page-narrow">
      <header className="page-head">
        <h1>{t('Logins')}</h1>
      </header>
      {logins.error === null ? null : <ErrorNote error={logins.error} onRetry={() => void logins.refetch()} />}
      {logins.isPending ? <Skeleton /> : null}
      {logins.isSuccess && rows.length === 0 ? <Empty text={t('No login in the last seven days.')} /> : null}
      {[...waiting, ...others].map((login) => (
        <Row key={login.id} login={login} onPicture={() => setShown(login)} />
      ))}
      {logins.hasNextPage ? <Button onClick={() => void logins.fetchNextPage()}>{t('Load more')}</Button> : null}
      {shown === undefined ? null : <Picture login={shown} onClose={() => setShown(undefined)} />}
    </div>
  );
}
