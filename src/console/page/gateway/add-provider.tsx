import { useState } from 'react';
import { request } from '../data/http.ts';
import { useDraft } from '../data/use-draft.ts';
import { t } from '../i18n/t.ts';
import { Choice, TextArea, TextField } from '../parts/field.tsx';
import { FormDialog } from '../parts/form-dialog.tsx';
import { EMPTY_PROVIDER, OTHER, buildProvider, readKind } from './provider-draft.ts';
import type { ProviderDraft } from './provider-draft.ts';

const KINDS = [
  ['openai', 'OpenAI'],
  ['anthropic', 'Anthropic'],
  ['gemini', 'Gemini'],
  ['bedrock', 'Amazon Bedrock'],
  ['vertex', 'Google Vertex AI'],
  ['azure-openai', 'Azure OpenAI'],
  ['openrouter', 'OpenRouter'],
  [OTHER, 'Another server'],
] as const;
const FORMATS = ['chat-completions', 'responses', 'messages', 'generate-content'] as const;

type FormProps = Pick<ReturnType<typeof useDraft<ProviderDraft>>, 'draft' | 'change' | 'bind'>;

/** Never kept by the browser. */
const SECRET = { type: 'password', autoComplete: 'off' };

function ApiKeyField({ draft, bind }: FormProps) {
  const { isKeyOptional } = readKind(draft);
  return (
    <TextField
      label={isKeyOptional ? t('API key, if it needs one') : t('API key')}
      name="apiKey"
      maxLength={4000}
      required={!isKeyOptional}
      {...SECRET}
      {...bind('apiKey')}
    />
  );
}

function AddressFields({ draft, change, bind }: FormProps) {
  return (
    <>
      {draft.kind === OTHER ? (
        <Choice
          label={t('Format')}
          value={draft.format}
          options={FORMATS.map((format) => [format, format])}
          onChange={(format) => change({ format })}
        />
      ) : null}
      <TextField
        label={t('Address, with the version: https://host/v1')}
        name="baseUrl"
        type="url"
        required
        {...bind('baseUrl')}
      />
    </>
  );
}

function AwsFields({ draft, change, bind }: FormProps) {
  return (
    <>
      <TextField
        label={t('Region')}
        name="aws.region"
        placeholder="eu-central-1"
        required
        spellCheck={false}
        maxLength={50}
        {...bind('region')}
      />
      <Choice
        label={t('Credentials')}
        value={draft.awsAuth}
        options={[
          ['keys', t('Access key of AWS')],
          ['apiKey', t('API key of Bedrock')],
        ]}
        onChange={(awsAuth) => change({ awsAuth })}
      />
      {draft.awsAuth === 'keys' ? (
        <>
          <TextField
            label={t('Access key id')}
            name="aws.accessKeyId"
            required
            autoComplete="off"
            spellCheck={false}
            maxLength={128}
            {...bind('accessKeyId')}
          />
          <TextField
            label={t('Secret access key')}
            name="aws.secretAccessKey"
            required
            maxLength={200}
            {...SECRET}
            {...bind('secretAccessKey')}
          />
          <TextField
            label={t('Session token, of temporary keys')}
            name="aws.sessionToken"
            maxLength={8000}
            {...SECRET}
            {...bind('sessionToken')}
          />
        </>
      ) : (
        <ApiKeyField draft={draft} change={change} bind={bind} />
      )}
    </>
  );
}

function GoogleFields({ bind }: FormProps) {
  return (
    <>
      <TextField
        label={t('Project')}
        name="google.project"
        required
        spellCheck={false}
        maxLength={100}
        {...bind('project')}
      />
      <TextField
        label={t('Location')}
        name="google.location"
        placeholder="global"
        spellCheck={false}
        maxLength={50}
        {...bind('location')}
      />
      <TextArea
        label={t('JSON key of a service account')}
        name="google.credentials"
        className="mono"
        rows={4}
        required
        autoComplete="off"
        spellCheck={false}
        maxLength={20_000}
        {...bind('credentials')}
      />
    </>
  );
}

/** Adds a provider with the organization's own credentials. The server calls it before it is saved. */
export function AddProvider({ onAdded, onClose }: { onAdded: () => void; onClose: () => void }) {
  const form = useDraft(EMPTY_PROVIDER);
  const [isUnchecked, setUnchecked] = useState(false);
  const { draft, change, bind } = form;
  const { credentials, needsAddress } = readKind(draft);
  const submit = async () => {
    await request('POST', 'v1/providers', { body: { ...buildProvider(draft), probe: !isUnchecked } });
    onAdded();
    onClose();
  };
  return (
    <FormDialog
      title={t('Add a provider')}
      action={t('Add')}
      busyAction={isUnchecked ? t('Saving…') : t('Calling it…')}
      onSubmit={submit}
      onClose={onClose}
    >
      <Choice
        label={t('Provider')}
        value={draft.kind}
        options={KINDS.map(([value, text]) => [value, t(text)])}
        onChange={(kind) => change({ kind, name: kind === OTHER ? '' : kind })}
      />
      <TextField
        label={t('Name, the first part of its models')}
        name="name"
        required
        maxLength={60}
        spellCheck={false}
        {...bind('name')}
      />
      {needsAddress ? <AddressFields {...form} /> : null}
      {credentials === 'aws' ? <AwsFields {...form} /> : null}
      {credentials === 'google' ? <GoogleFields {...form} /> : null}
      {credentials === 'key' ? <ApiKeyField {...form} /> : null}
      <label className="check">
        <input type="checkbox" checked={isUnchecked} onChange={(event) => setUnchecked(event.target.checked)} />
        {t('Save it without a call of the provider')}
      </label>
      <p className="meta">{t('Credentials are stored sealed and are never shown again.')}</p>
    </FormDialog>
  );
}
