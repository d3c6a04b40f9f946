import { useState } from 'react';
import { ROLE_SCOPES, SCOPES } from '../../../../clients/typescript/generated/roles.ts';
import { announce } from '../data/announce.ts';
import { request } from '../data/http.ts';
import { queries } from '../data/queries.ts';
import type { ApiKey } from '../data/types.ts';
import { useDraft } from '../data/use-draft.ts';
import { t } from '../i18n/t.ts';
import { Choice, TextArea, TextField } from '../parts/field.tsx';
import { FormDialog } from '../parts/form-dialog.tsx';
import { readLocalTime, writeLocalTime } from '../text/local-time.ts';
import { NewSecret } from './new-secret.tsx';
import { findRole } from './roles.ts';

export type KeyCreated = ApiKey & { key: string };

const EMPTY = { name: '', requestsPerMinute: '', tokensPerDay: '', expiresAt: '', models: '' };
type Draft = typeof EMPTY;

function readDraft({ name, requestsPerMinute, tokensPerDay, expiresAt, models }: ApiKey): Draft {
  return {
    name,
    requestsPerMinute: String(requestsPerMinute),
    tokensPerDay: tokensPerDay === null ? '' : String(tokensPerDay),
    expiresAt: writeLocalTime(expiresAt),
    models: (models ?? []).join('\n'),
  };
}

function readModels(text: string): string[] | null {
  const models = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  return models.length === 0 ? null : models;
}

/** The body; of a change, the fields that differ alone: a time is shown to the minute only. */
function buildBody(draft: Draft, before: Draft | undefined): Record<string, unknown> {
  const isChanged = (name: keyof Draft) => (before ?? EMPTY)[name] !== draft[name];
  return {
    ...(isChanged('name') ? { name: draft.name } : {}),
    ...(isChanged('requestsPerMinute') ? { requestsPerMinute: Number(draft.requestsPerMinute) } : {}),
    ...(isChanged('tokensPerDay')
      ? { tokensPerDay: draft.tokensPerDay === '' ? null : Number(draft.tokensPerDay) }
      : {}),
    ...(isChanged('expiresAt') ? { expiresAt: readLocalTime(draft.expiresAt) } : {}),
    ...(isChanged('models') ? { models: readModels(draft.models) } : {}),
  };
}

type ScopesProps = { scopes: readonly string[]; onChange: (scopes: readonly string[]) => void };

/** What a key may do: the scopes of a role that people have, or any others. */
function Scopes({ scopes, onChange }: ScopesProps) {
  const role = findRole(scopes);
  const roles = Object.keys(ROLE_SCOPES).map((name) => [name, t(name)] as const);
  return (
    <>
      <Choice
        label={t('Role')}
        value={role ?? ''}
        options={role === undefined ? [['', t('none: single scopes')], ...roles] : roles}
        onChange={(name) => onChange(ROLE_SCOPES[name] ?? scopes)}
      />
      <fieldset className="scopes">
        <legend>{t('Scopes')}</legend>
        {SCOPES.map((scope) => (
          <label key={scope} className="check">
            <input
              type="checkbox"
              checked={scopes.includes(scope)}
              onChange={(event) =>
                onChange(event.target.checked ? [...scopes, scope] : scopes.filter((each) => each !== scope))
              }
            />
            <code>{scope}</code>
          </label>
        ))}
      </fieldset>
    </>
  );
}

function Limits({ bind, isNew }: { bind: ReturnType<typeof useDraft<Draft>>['bind']; isNew: boolean }) {
  return (
    <>
      <TextField
        label={t('Expires')}
        help={t('In the time zone of this computer. Empty: never.')}
        name="expiresAt"
        type="datetime-local"
        {...bind('expiresAt')}
      />
      <TextArea
        label={t('Models, one a line')}
        help={t('A * stands for any text: openai/*. Empty: every model.')}
        name="models"
        rows={2}
        className="mono"
        spellCheck={false}
        {...bind('models')}
      />
      <TextField
        label={t('Requests a minute')}
        name="requestsPerMinute"
        type="number"
        min={1}
        max={1_000_000}
        required={!isNew}
        {...(isNew ? { help: t('Empty: the default of the server.') } : {})}
        {...bind('requestsPerMinute')}
      />
      <TextField
        label={t('Tokens a day')}
        help={t('Empty: without a limit.')}
        name="tokensPerDay"
        type="number"
        min={1}
        {...bind('tokensPerDay')}
      />
    </>
  );
}

/** A new key, whose secret is shown once, or the change of one. */
export function KeyForm({ apiKey, onClose }: { apiKey?: ApiKey | undefined; onClose: () => void }) {
  const before = apiKey === undefined ? undefined : readDraft(apiKey);
  const { draft, bind } = useDraft(before ?? EMPTY);
  const [scopes, setScopes] = useState<readonly string[]>(apiKey?.scopes ?? ['agents:read', 'agents:write']);
  const [created, setCreated] = useState<KeyCreated>();
  const submit = async () => {
    const body = { ...buildBody(draft, before), scopes };
    if (apiKey === undefined) setCreated(await request<KeyCreated>('POST', 'v1/api-keys', { body }));
    else await request('PATCH', `v1/api-keys/${encodeURIComponent(apiKey.id)}`, { body });
    void queries.invalidateQueries({ queryKey: ['api-keys'] });
    if (apiKey === undefined) return;
    announce(t('Saved.'));
    onClose();
  };
  if (created !== undefined) return <NewSecret created={created} onClose={onClose} />;
  return (
    <FormDialog
      title={apiKey === undefined ? t('New API key') : t('Change {name}', { name: apiKey.name })}
      action={apiKey === undefined ? t('Create') : t('Save')}
      isDisabled={scopes.length === 0}
      onSubmit={submit}
      onClose={onClose}
    >
      <TextField label={t('Name')} name="name" required maxLength={200} autoFocus {...bind('name')} />
      <Scopes scopes={scopes} onChange={setScopes} />
      <Limits bind={bind} isNew={apiKey === undefined} />
      {apiKey === undefined ? null : <p className="meta">{t('A change takes effect within five seconds.')}</p>}
    </FormDialog>
  );
}
