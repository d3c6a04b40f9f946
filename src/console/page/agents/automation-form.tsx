import type { Automation } from '../../../../clients/typescript/generated/automations.ts';
import { announce } from '../data/announce.ts';
import { request } from '../data/http.ts';
import { queries, useAllAgents } from '../data/queries.ts';
import { settings } from '../data/settings.ts';
import { useDraft } from '../data/use-draft.ts';
import { t } from '../i18n/t.ts';
import { Choice, TextArea, TextField } from '../parts/field.tsx';
import { FormDialog } from '../parts/form-dialog.tsx';

const EMPTY = { agentId: '', subjectId: '', name: '', prompt: '', schedule: '', timezone: '', repeat: '' };
type Draft = typeof EMPTY;

/** The address of the automations of one subject. */
export function buildAutomationsPath(agentId: string, subjectId: string): string {
  return `v1/agents/${encodeURIComponent(agentId)}/users/${encodeURIComponent(subjectId)}/automations`;
}

function readDraft(automation: Automation): Draft {
  const { agentId, subjectId, name, prompt, schedule, timezone, repeat } = automation;
  return {
    agentId,
    subjectId,
    name: name ?? '',
    prompt,
    schedule,
    timezone,
    repeat: repeat === null ? '' : `${repeat}`,
  };
}

/** The body; of a change, the fields that differ alone, because a schedule that is sent again counts from now. */
function buildBody(draft: Draft, before: Draft | undefined): Record<string, unknown> {
  const isChanged = (name: keyof Draft) => before === undefined || draft[name] !== before[name];
  return {
    ...(isChanged('name') ? { name: draft.name.trim() === '' ? null : draft.name.trim() } : {}),
    ...(isChanged('prompt') ? { prompt: draft.prompt } : {}),
    ...(isChanged('schedule') ? { schedule: draft.schedule.trim() } : {}),
    ...(isChanged('timezone') ? { timezone: draft.timezone.trim() } : {}),
    ...(isChanged('repeat') ? { repeat: draft.repeat === '' ? null : Number(draft.repeat) } : {}),
  };
}

type Props = { agentId?: string | undefined; automation?: Automation | undefined; onClose: () => void };

/** A new automation, of any agent or of the given one, or the change of one. */
export function AutomationForm({ agentId = '', automation, onClose }: Props) {
  const agents = useAllAgents();
  const before = automation === undefined ? undefined : readDraft(automation);
  const timezone = settings.get().timeZone || Intl.DateTimeFormat().resolvedOptions().timeZone;
  const { draft, change, bind } = useDraft(before ?? { ...EMPTY, agentId, timezone });
  const isNew = automation === undefined;
  const submit = async () => {
    const path = buildAutomationsPath(draft.agentId, draft.subjectId.trim());
    const body = buildBody(draft, before);
    if (isNew) await request('POST', path, { body });
    else if (Object.keys(body).length > 0) await request('PATCH', `${path}/${automation.id}`, { body });
    announce(t('Saved.'));
    void queries.invalidateQueries({ queryKey: ['automations'] });
    onClose();
  };
  return (
    <FormDialog
      title={isNew ? t('New automation') : t('Change the automation')}
      action={t('Save')}
      busyAction={t('Saving…')}
      isDisabled={draft.agentId === ''}
      onSubmit={submit}
      onClose={onClose}
    >
      {isNew && agentId === '' ? (
        <Choice
          label={t('Agent')}
          value={draft.agentId}
          options={[['', t('Choose an agent')], ...agents.map(({ id, name }) => [id, name] as const)]}
          onChange={(id) => change({ agentId: id })}
        />
      ) : null}
      {isNew ? (
        <TextField
          label={t('Subject')}
          help={t('Whose memory and files the agent works with.')}
          name="subjectId"
          required
          maxLength={256}
          {...bind('subjectId')}
        />
      ) : null}
      <TextField label={t('Name')} name="name" maxLength={200} {...bind('name')} />
      <TextArea
        label={t('Prompt')}
        help={t('Each run is a new session that begins with it.')}
        name="prompt"
        rows={4}
        required
        maxLength={5000}
        {...bind('prompt')}
      />
      <TextField
        label={t('Schedule')}
        help={t('Such as 30m, every 2h, 0 9 * * 1-5 or 2027-01-31T09:00.')}
        name="schedule"
        required
        maxLength={200}
        spellCheck={false}
        {...bind('schedule')}
      />
      <TextField
        label={t('Time zone')}
        name="timezone"
        required
        maxLength={100}
        spellCheck={false}
        {...bind('timezone')}
      />
      <TextField
        label={t('Runs at most')}
        help={t('Empty: without a limit.')}
        name="repeat"
        type="number"
        min={1}
        {...bind('repeat')}
      />
    </FormDialog>
  );
}
