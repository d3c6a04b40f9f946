import { getRouteApi } from '@tanstack/react-router';
import { RotateCcw } from 'lucide-react';
import { useState } from 'react';
import { BASE, request } from '../data/http.ts';
import { queries, useAgent, useAgents, useAllAgents, useSession } from '../data/queries.ts';
import type { Agent, Session } from '../data/types.ts';
import { t } from '../i18n/t.ts';
import { ConfigForm } from '../agents/config-form.tsx';
import { Button } from '../parts/button.tsx';
import { Code } from '../parts/code.tsx';
import { Copy } from '../parts/copy.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { ErrorNote } from '../parts/error-note.tsx';
import { Choice, TextField } from '../parts/field.tsx';
import { Empty, Skeleton } from '../parts/states.tsx';
import { SessionView } from '../session/session-view.tsx';
import { writeSnippet } from '../text/copy-as.ts';
import type { SnippetKind } from '../text/copy-as.ts';

const route = getRouteApi('/playground');
const SNIPPETS: readonly (readonly [SnippetKind, string])[] = [
  ['curl', 'curl'],
  ['typescript', 'TypeScript'],
  ['python', 'Python'],
];
const DEMO = {
  name: 'demo',
  modelName: 'script/demo',
  systemPrompt: 'Be brief and friendly.',
  skills: [],
  tools: [{ type: 'agent_toolset', defaultConfig: { enabled: true, permissionPolicy: { type: 'always_ask' } } }],
};

function useAction() {
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const run = async (action: () => Promise<void>) => {
    setBusy(true);
    setError(undefined);
    await action().catch(setError);
    setBusy(false);
  };
  return { run, error, isBusy };
}

function CopyAs({ agentId, subjectId, onClose }: { agentId: string; subjectId: string; onClose: () => void }) {
  const [kind, setKind] = useState<SnippetKind>('curl');
  const text = writeSnippet(kind, { base: BASE, agentId, subjectId });
  return (
    <Dialog title={t('Copy as')} onClose={onClose} className="dialog-wide">
      <div className="tabs">
        {SNIPPETS.map(([name, label]) => (
          <button key={name} type="button" aria-pressed={kind === name} onClick={() => setKind(name)}>
            {label}
          </button>
        ))}
      </div>
      <Code language={kind === 'curl' ? 'bash' : kind} code={text} />
      <div className="dialog-foot">
        <Copy text={text} label={t('the code')}>
          {t('Copy')}
        </Copy>
      </div>
    </Dialog>
  );
}

/** Shown without agents: one button creates an agent that needs no provider key. */
function FirstAgent({ onCreated }: { onCreated: (agent: Agent) => void }) {
  const { run, error, isBusy } = useAction();
  const create = () =>
    run(async () => {
      const agent = await request<Agent>('POST', 'v1/agents', { body: DEMO });
      await queries.invalidateQueries({ queryKey: ['agents'] });
      onCreated(agent);
    });
  return (
    <Empty
      text={t(
        'There is no agent yet. The model script/demo follows a prompt literally and needs no key of a provider.',
      )}
    >
      <Button kind="primary" disabled={isBusy} onClick={() => void create()}>
        {t('Make a demo agent')}
      </Button>
      {error === undefined ? null : <ErrorNote error={error} />}
    </Empty>
  );
}

function LiveSession({ id }: { id: string }) {
  const session = useSession(id);
  const [target, setTarget] = useState<number>();
  if (session.error !== null && session.data === undefined) {
    return <ErrorNote error={session.error} onRetry={() => void session.refetch()} />;
  }
  if (session.data === undefined) return <Skeleton />;
  return (
    <SessionView
      key={id}
      session={session.data}
      view="transcript"
      target={target}
      onTarget={setTarget}
      hasDetails={false}
    />
  );
}

function Start({ agent, subjectId, onStart }: { agent: Agent; subjectId: string; onStart: () => void }) {
  return (
    <Empty text={t('Start a session of {name} for {subject}.', { name: agent.name, subject: subjectId })}>
      <Button kind="primary" onClick={onStart}>
        {t('Start a session')}
      </Button>
      {agent.version.modelName === 'script/demo' ? (
        <p className="meta">
          {t('Then try:')} <code>run: date</code>
        </p>
      ) : null}
    </Empty>
  );
}

type RightProps = { agent: Agent | undefined; subjectId: string; sessionId: string | undefined; onStart: () => void };

function Right({ agent, subjectId, sessionId, onStart }: RightProps) {
  if (sessionId !== undefined) return <LiveSession key={sessionId} id={sessionId} />;
  return agent === undefined ? null : <Start agent={agent} subjectId={subjectId} onStart={onStart} />;
}

/** A configuration on the left, a live session with it on the right. */
export function Playground() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const agents = useAgents();
  const list = useAllAgents();
  const agentId = search.agent ?? list[0]?.id ?? '';
  const agent = useAgent(agentId, agentId !== '');
  const subjectId = search.subject ?? 'playground';
  const { run, error, isBusy } = useAction();
  const [isCopying, setCopying] = useState(false);
  const change = (next: Partial<typeof search>) =>
    void navigate({ search: (old) => ({ ...old, ...next }), replace: true });
  const start = () =>
    run(async () => {
      // A preview takes the latest version, promoted or not.
      const body = { agentId, subjectId, preview: true, title: t('Playground') };
      const session = await request<Session>('POST', 'v1/sessions', { body });
      change({ session: session.id, agent: agentId });
    });
  const restart = () => {
    void navigate({ search: (old) => ({ ...old, session: '' }), replace: true });
    void start();
  };
  if (agents.error !== null) return <ErrorNote error={agents.error} onRetry={() => void agents.refetch()} />;
  if (agents.isPending) return <Skeleton />;
  if (list.length === 0) return <FirstAgent onCreated={(made) => change({ agent: made.id })} />;
  return (
    <div className="playground">
      <section className="playground-config" aria-label={t('Configuration')} tabIndex={0}>
        <h1>{t('Playground')}</h1>
        <Choice
          label={t('Agent')}
          value={agentId}
          options={list.map((each) => [each.id, each.name] as const)}
          onChange={(next) => void navigate({ search: { agent: next } })}
        />
        <TextField
          label={t('Subject')}
          value={subjectId}
          maxLength={200}
          onChange={(event) => change({ subject: event.target.value, session: '' })}
        />
        <div className="form-foot">
          <Button onClick={() => setCopying(true)}>{t('Copy as…')}</Button>
          {search.session === undefined ? null : (
            <Button onClick={restart} disabled={isBusy}>
              <RotateCcw size={14} aria-hidden="true" /> {t('Restart')}
            </Button>
          )}
        </div>
        {error === undefined ? null : <ErrorNote error={error} />}
        {agent.data === undefined ? <Skeleton /> : <ConfigForm key={agent.data.id} agent={agent.data} />}
      </section>
      <section className="playground-session" aria-label={t('Session')}>
        <Right agent={agent.data} subjectId={subjectId} sessionId={search.session} onStart={() => void start()} />
      </section>
      {isCopying ? <CopyAs agentId={agentId} subjectId={subjectId} onClose={() => setCopying(false)} /> : null}
    </div>
  );
}
