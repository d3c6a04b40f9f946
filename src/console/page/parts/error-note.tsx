import { CircleX } from 'lucide-react';
import { useEffect, useState } from 'react';
import { ApiError } from '../../../../clients/typescript/errors.ts';
import { t } from '../i18n/t.ts';
import { Button } from './button.tsx';
import { Copy } from './copy.tsx';

type Props = {
  error: unknown;
  onRetry?: (() => void) | undefined;
  onDismiss?: (() => void) | undefined;
  requestId?: string | undefined;
};

function describe(error: unknown): string {
  if (error instanceof ApiError && error.status === 404 && error.code === 'not_found') {
    return error.message;
  }
  return error instanceof Error ? error.message : String(error);
}

/** Seconds until the server accepts requests again; counts down. */
function useCountdown(error: unknown): number {
  const seconds = error instanceof ApiError && error.status === 429 ? (error.retryAfterSeconds ?? 0) : 0;
  const [left, setLeft] = useState(seconds);
  useEffect(() => {
    setLeft(seconds);
    if (seconds === 0) return undefined;
    const timer = setInterval(() => setLeft((before) => Math.max(0, before - 1)), 1000);
    return () => clearInterval(timer);
  }, [seconds, error]);
  return left;
}

/** An error in place of the content: the message, the request id for the log, and a retry button. */
export function ErrorNote({ error, onRetry, onDismiss, requestId: known }: Props) {
  const left = useCountdown(error);
  const requestId = error instanceof ApiError ? error.requestId : known;
  return (
    <div className="note note-error" role="alert">
      <CircleX size={16} aria-hidden="true" />
      <div className="note-body">
        <p>{describe(error)}</p>
        {requestId === undefined ? null : (
          <p className="meta">
            {t('Request')} <Copy text={requestId} />
          </p>
        )}
      </div>
      {onRetry === undefined ? null : (
        <Button onClick={onRetry} disabled={left > 0}>
          {left > 0 ? t('Retry in {n} s', { n: left }) : t('Retry')}
        </Button>
      )}
      {onDismiss === undefined ? null : <Button onClick={onDismiss}>{t('Dismiss')}</Button>}
    </div>
  );
}
