import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { ApiError } from '../../../../clients/typescript/errors.ts';
import { announce } from '../data/announce.ts';
import { request } from '../data/http.ts';
import { queries, useCan } from '../data/queries.ts';
import type { Agent } from '../data/types.ts';
import { t } from '../i18n/t.ts';
import { Button } from '../parts/button.tsx';
import { compareTexts } from '../parts/diff-view.tsx';
import { ErrorNote } from '../parts/error-note.tsx';
import { TextArea, TextField } from '../parts/field.tsx';

type Draft = { name: string; modelName: string; systemPrompt: string; tools: string };

function readDraft(agent: Agent): Draft {
  const { name, version, tools } = agent;
  return {
    name,
    modelName: version.modelName,
    systemPrompt: version.systemPrompt,
    tools: JSON.stringify(tools, null, 2),
  };
}

function countChanges(before: string, after: string): string {
  const lines = compareTexts(before, after) ?? [];
  const added = lines.filter(({ sign }) => sign === '+').length;
  const removed = lines.filter(({ sign }) => sign === '-').length;
  return added + removed === 0 ? '' : t('Changed: +{added} -{removed}', { added, removed });
}

function buildPatch(agent: Agent, draft: Draft): Record<string, unknown> {
  const before = readDraft(agent);
  return {
    expectedVersion: agent.version.version,
    ...(draft.name === before.name ? {} : { name: draft.name }),
    ...(draft.modelName === before.modelName ? {} : { modelName: draft.modelName }),
    ...(draft.systemPrompt === before.systemPrompt ? {} : { systemPrompt: draft.systemPrompt }),
    ...(draft.tools === before.tools ? {} : { tools: JSON.parse(draft.tools) as unknown }),
  };
}

function describeFault(thrown: unknown): unknown {
  if (thrown instanceof SyntaxError) return new Error(t('The tools are not JSON: {why}', { why: thrown.message }));
  if (thrown instanceof ApiError && thrown.status === 409) {
    return new Error(t('Somebody has saved another version meanwhile. Reload the page to see it.'), { cause: thrown });
  }
  return thrown;
}

/** Says that the latest version is saved and not yet in use, and leads to where that changes. */
function NotLive({ agent }: { agent: Agent }) {
  if (agent.productionVersion === agent.version.version) return null;
  return (
    <span className="meta">
      {t('It is not in production.')}{' '}
      <Link to="/agents/$agentId/$tab" params={{ agentId: agent.id, tab: 'versions' }}>
        {t('Compare and promote')}
      </Link>
    </span>
  );
}

/** Saves the configuration as a new version. Promotion is a separate step. */
export function ConfigForm({ agent, onSaved }: { agent: Agent; onSaved?: (agent: Agent) => void }) {
  const [draft, setDraft] = useState(() => readDraft(agent));
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const canWrite = useCan('agents:write');
  const saved = readDraft(agent);
  const changes = countChanges(
    JSON.stringify(saved, null, 1).replaceAll('\\n', '\n'),
    JSON.stringify(draft, null, 1).replaceAll('\\n', '\n'),
  );
  const save = async () => {
    setBusy(true);
    setError(undefined);
    try {
      const next = await request<Agent>('PATCH', `v1/agents/${agent.id}`, { body: buildPatch(agent, draft) });
      queries.setQueryData(['agent', agent.id], next);
      for (const key of ['agents', 'versions']) void queries.invalidateQueries({ queryKey: [key] });
      announce(t('Version {n} is saved.', { n: next.version.version }));
      setDraft(readDraft(next));
      onSaved?.(next);
    } catch (thrown) {
      setError(describeFault(thrown));
    } finally {
      setBusy(false);
    }
  };
  const change = (name: keyof Draft) => (event: { target: { value: string } }) =>
    setDraft({ ...draft, [name]: event.target.value });
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <TextField
        label={t('Name')}
        value={draft.name}
        onChange={change('name')}
        readOnly={!canWrite}
        required
        maxLength={200}
      />
      <TextField
        label={t('Model')}
        value={draft.modelName}
        onChange={change('modelName')}
        readOnly={!canWrite}
        required
        spellCheck={false}
      />
      <TextArea
        label={t('System prompt')}
        rows={8}
        value={draft.systemPrompt}
        onChange={change('systemPrompt')}
        readOnly={!canWrite}
      />
      <TextArea
        label={t('Tools (JSON)')}
        rows={10}
        className="mono"
        spellCheck={false}
        value={draft.tools}
        onChange={change('tools')}
        readOnly={!canWrite}
      />
      {error === undefined ? null : <ErrorNote error={error} />}
      {canWrite ? (
        <div className="form-foot">
          <Button kind="primary" type="submit" disabled={isBusy || changes === ''}>
            {isBusy ? t('Saving…') : t('Save version')}
          </Button>
          {changes === '' ? (
            <>
              <span className="meta">{t('No change to version {n}.', { n: agent.version.version })}</span>
              <NotLive agent={agent} />
            </>
          ) : (
            <>
              <Button onClick={() => setDraft(saved)}>{t('Discard')}</Button>
              <span className="meta">{changes}</span>
            </>
          )}
        </div>
      ) : null}
    </form>
  );
}
