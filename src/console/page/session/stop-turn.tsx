import { Square } from 'lucide-react';
import { useState } from 'react';
import { announce } from '../data/announce.ts';
import { request } from '../data/http.ts';
import { queries, useCan } from '../data/queries.ts';
import { t } from '../i18n/t.ts';
import { Button } from '../parts/button.tsx';
import { Confirm } from '../parts/confirm.tsx';

/** Ends the turn of a running session, after a question. */
export function StopTurn({ sessionId }: { sessionId: string }) {
  const [isAsking, setAsking] = useState(false);
  const canWrite = useCan('agents:write');
  if (!canWrite) return null;
  const stop = async () => {
    const path = `v1/sessions/${encodeURIComponent(sessionId)}/events`;
    await request('POST', path, { body: { events: [{ type: 'user.interrupt' }] } }).catch(() =>
      announce(t('The turn could not be stopped.')),
    );
    await queries.invalidateQueries({ queryKey: ['sessions'] });
  };
  return (
    <>
      <Button className="button-small" onClick={() => setAsking(true)}>
        <Square size={12} aria-hidden="true" /> {t('Stop')}
      </Button>
      {isAsking ? (
        <Confirm
          title={t('Stop this turn?')}
          text={t('What runs is ended. What the agent has done so far stays.')}
          action={t('Stop')}
          isDanger
          onConfirm={() => void stop()}
          onClose={() => setAsking(false)}
        />
      ) : null}
    </>
  );
}
