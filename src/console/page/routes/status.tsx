import { useQuery } from '@tanstack/react-query';
import { buildUrl } from '../data/http.ts';
import { liveState } from '../data/live.ts';
import { useCaller } from '../data/queries.ts';
import { useStore } from '../data/store.ts';
import { t } from '../i18n/t.ts';
import { ErrorNote } from '../parts/error-note.tsx';
import { FactList } from '../parts/facts.tsx';
import { Skeleton } from '../parts/states.tsx';
import { Status } from '../parts/status.tsx';
import { Table } from '../parts/table.tsx';
import { formatBytes } from '../text/format.ts';

type Readiness = {
  status: 'ok' | 'storage_full' | 'unavailable';
  /** absent where the server shows details to others only */
  checks?: Record<string, 'ok' | 'unavailable'>;
  storage?: { state: 'ok' | 'full'; freeBytes: number; floorBytes: number };
};

const POLL_MS = 10_000;
const TEXTS: Record<Readiness['status'], string> = {
  ok: 'Ready',
  storage_full: 'The storage is full: only reads work',
  unavailable: 'Not ready',
};

/** Also of a server that is not ready, which answers 503. Throws for any answer that is not the server's own. */
async function readReadiness(signal: AbortSignal): Promise<Readiness> {
  const response = await fetch(buildUrl('readyz'), { signal, credentials: 'same-origin' });
  const body: unknown = await response.json().catch(() => undefined);
  if (typeof body !== 'object' || body === null || !('status' in body)) {
    throw new Error(t('The address /readyz does not lead to the server ({status}).', { status: response.status }));
  }
  return body as Readiness;
}

function Backends({ checks }: { checks: NonNullable<Readiness['checks']> }) {
  return (
    <Table columns={['State', 'Backend']}>
      {Object.entries(checks).map(([name, state]) => (
        <tr key={name}>
          <td>
            <Status kind={state === 'ok' ? 'working' : 'failing'} />
          </td>
          <td>{name}</td>
        </tr>
      ))}
    </Table>
  );
}

function Storage({ storage }: { storage: NonNullable<Readiness['storage']> }) {
  return (
    <FactList
      isWide
      facts={[
        [t('Free storage'), formatBytes(storage.freeBytes)],
        [t('Writes stop below'), formatBytes(storage.floorBytes)],
      ]}
    />
  );
}

function State({ readiness: { status, checks, storage } }: { readiness: Readiness }) {
  const isReady = status === 'ok';
  return (
    <>
      <p className={isReady ? 'server-state' : 'server-state error-text'} role="status">
        <Status kind={isReady ? 'working' : 'failing'} /> {t(TEXTS[status] ?? status)}
      </p>
      {checks === undefined ? (
        <p className="meta">
          {t('The server shows its backends to callers on its own machine, or at CAPSTAN_METRICS_PORT.')}
        </p>
      ) : (
        <Backends checks={checks} />
      )}
      {storage === undefined ? null : <Storage storage={storage} />}
    </>
  );
}

/** Whether the server and its backends work, and which version it is. */
export function StatusPage() {
  const { data: caller } = useCaller();
  const live = useStore(liveState);
  const readiness = useQuery({
    queryKey: ['readiness'],
    queryFn: ({ signal }) => readReadiness(signal),
    refetchInterval: POLL_MS,
  });
  const { data } = readiness;
  return (
    <div className="page page-narrow">
      <header className="page-head">
        <h1>{t('Status')}</h1>
      </header>
      {readiness.error === null ? null : <ErrorNote error={readiness.error} onRetry={() => void readiness.refetch()} />}
      {readiness.isPending ? <Skeleton rows={7} /> : null}
      {data === undefined ? null : <State readiness={data} />}
      <FactList
        isWide
        facts={[
          [t('Server version'), caller?.version ?? ''],
          [t('Services'), (caller?.services ?? []).join(', ')],
          [t('Live updates'), live === 'live' ? t('open') : t('every ten seconds')],
        ]}
      />
    </div>
  );
}
