import { useState } from 'react';
import { request } from '../data/http.ts';
import { queries, useCan } from '../data/queries.ts';
import type { Agent } from '../data/types.ts';
import { t } from '../i18n/t.ts';
import { Button } from '../parts/button.tsx';
import { FormDialog } from '../parts/form-dialog.tsx';

/** Archives an agent, for those who may. */
export function ArchiveAgent({ agent }: { agent: Agent }) {
  const canWrite = useCan('agents:write');
  const [isAsked, setAsked] = useState(false);
  if (!canWrite || agent.status === 'archived') return null;
  const archive = async () => {
    await request('POST', `v1/agents/${agent.id}/archive`);
    for (const key of ['agent', 'agents']) await queries.invalidateQueries({ queryKey: [key] });
    setAsked(false);
  };
  return (
    <>
      <Button kind="danger" onClick={() => setAsked(true)}>
        {t('Archive')}
      </Button>
      {isAsked ? (
        <FormDialog
          title={t('Archive {name}?', { name: agent.name })}
          action={t('Archive')}
          onSubmit={archive}
          onClose={() => setAsked(false)}
        >
          <p>{t('It takes no new versions and no new sessions. This cannot be undone.')}</p>
        </FormDialog>
      ) : null}
    </>
  );
}
