import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useId, useState } from 'react';
import { get, request } from '../data/http.ts';
import { queries, useCan } from '../data/queries.ts';
import type { Agent } from '../data/types.ts';
import { useDraft } from '../data/use-draft.ts';
import { t } from '../i18n/t.ts';
import { Button } from '../parts/button.tsx';
import { Choice, TextArea, TextField } from '../parts/field.tsx';
import { FormDialog } from '../parts/form-dialog.tsx';

const TOOLS = [
  ['always_ask', 'All built-in tools; a person allows each call'],
  ['always_allow', 'All built-in tools; calls run at once'],
  ['none', 'No tools'],
] as const;

/** The models that the caller may use, as suggestions: any other name can be typed. */
function useModelNames(): readonly string[] {
  const canSee = useCan('inference');
  const { data } = useQuery({
    queryKey: ['models'],
    queryFn: ({ signal }) => get<{ data: { id: string }[] }>('v1/models', {}, signal),
    enabled: canSee,
    staleTime: 60_000,
  });
  return (data?.data ?? []).map(({ id }) => id);
}

/** A new agent with what it cannot be without; its page changes the rest. */
function NewAgentForm({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate();
  const models = useModelNames();
  const listId = useId();
  const { draft, change, bind } = useDraft({ name: '', modelName: '', systemPrompt: '', tools: 'always_ask' });
  const submit = async () => {
    const { name, modelName, systemPrompt, tools } = draft;
    const toolset = { type: 'agent_toolset', defaultConfig: { permissionPolicy: { type: tools } } };
    const body = {
      name,
      modelName: modelName.trim(),
      systemPrompt,
      skills: [],
      tools: tools === 'none' ? [] : [toolset],
    };
    const agent = await request<Agent>('POST', 'v1/agents', { body });
    void queries.invalidateQueries({ queryKey: ['agents'] });
    onClose();
    void navigate({ to: '/agents/$agentId/$tab', params: { agentId: agent.id, tab: 'overview' } });
  };
  return (
    <FormDialog title={t('New agent')} action={t('Create')} onSubmit={submit} onClose={onClose}>
      <TextField label={t('Name')} name="name" required maxLength={200} autoFocus {...bind('name')} />
      <TextField
        label={t('Model')}
        help={t('The model script/demo follows a prompt literally and needs no key of a provider.')}
        name="modelName"
        list={listId}
        required
        maxLength={200}
        spellCheck={false}
        {...bind('modelName')}
      />
      <datalist id={listId}>
        {models.map((id) => (
          <option key={id} value={id} />
        ))}
      </datalist>
      <TextArea label={t('System prompt')} name="systemPrompt" rows={5} required {...bind('systemPrompt')} />
      <Choice
        label={t('Tools')}
        value={draft.tools}
        options={TOOLS.map(([value, text]) => [value, t(text)])}
        onChange={(tools) => change({ tools })}
      />
    </FormDialog>
  );
}

/** Opens the form of a new agent, for those who may make one. */
export function NewAgent() {
  const canWrite = useCan('agents:write');
  const [isOpen, setOpen] = useState(false);
  if (!canWrite) return null;
  return (
    <>
      <Button kind="primary" onClick={() => setOpen(true)}>
        {t('New agent')}
      </Button>
      {isOpen ? <NewAgentForm onClose={() => setOpen(false)} /> : null}
    </>
  );
}
