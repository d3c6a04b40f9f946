import { useQuery } from '@tanstack/react-query';
import { useRouterState } from '@tanstack/react-router';
import { useState } from 'react';
import type { FormEvent } from 'react';
import { BASE, buildUrl, get, request, signedOut } from '../data/http.ts';
import { queries } from '../data/queries.ts';
import { t } from '../i18n/t.ts';
import { Button } from '../parts/button.tsx';
import { ErrorNote } from '../parts/error-note.tsx';
import { TextField } from '../parts/field.tsx';

type Methods = { data: { type: string; issuer: string | null; href: string | null }[] };

/** Why a sign-in at the identity provider has failed, by the code of the error. */
const FAILURES: Readonly<Record<string, string>> = {
  forbidden: 'None of your groups has a role here. Ask an administrator.',
  validation_error: 'The sign-in was begun elsewhere, or more than 10 minutes ago. Try again.',
  rate_limited: 'Too many sign-ins have failed. Try again in a minute.',
  server_error: 'The identity provider does not answer. Try again later.',
};

/** The page to return to, and the error with which the identity provider has sent the browser here. */
function useReturn(): { returnTo: string; failure: { text: string; requestId: string | undefined } | undefined } {
  const { pathname, search } = useRouterState({ select: ({ location }) => location });
  if (pathname !== '/signin') return { returnTo: location.href, failure: undefined };
  const { error, requestId } = search;
  const text = error === undefined ? undefined : t(FAILURES[error] ?? 'The sign-in has failed. Try again.');
  return { returnTo: document.baseURI, failure: text === undefined ? undefined : { text, requestId } };
}

function Provider({ returnTo }: { returnTo: string }) {
  const methods = useQuery({
    queryKey: ['sign-in-methods'],
    queryFn: ({ signal }) => get<Methods>('v1/sign-in-methods', {}, signal),
    retry: false,
    staleTime: Infinity,
  });
  const provider = methods.data?.data.find(({ type }) => type === 'oidc');
  if (provider === undefined || provider.href === null) return null;
  const host = provider.issuer === null ? null : URL.parse(provider.issuer);
  return (
    <p>
      <a className="button button-primary" href={buildUrl(provider.href.replace(/^\/+/, ''), { returnTo })}>
        {host === null ? t('Sign in with your company account') : t('Sign in with {name}', { name: host.host })}
      </a>
    </p>
  );
}

/** Exchanges an API key for a cookie. The page does not keep the key. */
export function SignIn() {
  const [key, setKey] = useState('');
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const { returnTo, failure } = useReturn();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    try {
      await request('POST', 'v1/sign-ins', { body: { key: key.trim() } });
      setKey('');
      signedOut.set(false);
      await queries.invalidateQueries();
    } catch (thrown) {
      setError(thrown);
    } finally {
      setBusy(false);
    }
  };
  return (
    <form className="sign-in" onSubmit={(event) => void submit(event)}>
      {failure === undefined ? null : <ErrorNote error={new Error(failure.text)} requestId={failure.requestId} />}
      <Provider returnTo={returnTo} />
      <TextField
        label={t('API key')}
        type="password"
        autoComplete="current-password"
        autoFocus
        required
        spellCheck={false}
        value={key}
        onChange={(event) => setKey(event.target.value)}
        help={
          <>
            {t('The first start prints a key and stores it on the server:')} <code>data/api-key</code>
          </>
        }
      />
      {error === undefined ? null : <ErrorNote error={error} />}
      <div className="dialog-foot">
        <a href={new URL('docs', BASE).href}>{t('API reference')}</a>
        <Button kind="primary" type="submit" disabled={isBusy || key.trim() === ''}>
          {isBusy ? t('Signing in…') : t('Sign in')}
        </Button>
      </div>
    </form>
  );
}

export async function signOut(): Promise<void> {
  const answer = await request<{ logoutUrl?: string | null }>('DELETE', 'v1/sign-ins/current').catch(() => undefined);
  queries.clear();
  signedOut.set(true);
  // Ends the session at the identity provider, too.
  if (typeof answer?.logoutUrl === 'string') location.assign(answer.logoutUrl);
}
