import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Memory } from '../../../../clients/typescript/generated/memory.ts';
import { announce } from '../data/announce.ts';
import { get, request } from '../data/http.ts';
import { queries, useCan } from '../data/queries.ts';
import { t } from '../i18n/t.ts';
import { Button } from '../parts/button.tsx';
import { ErrorNote } from '../parts/error-note.tsx';
import { TextArea } from '../parts/field.tsx';
import { Skeleton } from '../parts/states.tsx';
import { formatDateTime } from '../text/format.ts';
import { SubjectChoice } from './subject-choice.tsx';

type EditorProps = { memory: Memory; path: string; title: string };

/** Saves only if the document is unchanged since it was read, so that no other change is lost. */
function Editor({ memory, path, title }: EditorProps) {
  const [text, setText] = useState(memory.content);
  const [error, setError] = useState<unknown>();
  const canWrite = useCan('agents:write');
  const save = async () => {
    setError(undefined);
    try {
      const body = { content: text, expectedChecksumSha256: memory.checksumSha256 };
      await request('PUT', path, { body });
      announce(t('Saved.'));
      await queries.invalidateQueries({ queryKey: ['memory', path] });
    } catch (thrown) {
      setError(thrown);
    }
  };
  const written = memory.updatedAt === null ? t('nothing written yet') : formatDateTime(memory.updatedAt);
  return (
    <div className="form">
      <TextArea
        label={title}
        rows={8}
        value={text}
        readOnly={!canWrite}
        spellCheck={false}
        onChange={(event) => setText(event.target.value)}
        help={t('{used} of {max} characters, {written}', {
          used: text.length.toLocaleString(),
          max: memory.maxChars.toLocaleString(),
          written,
        })}
      />
      {error === undefined ? null : <ErrorNote error={error} />}
      {canWrite ? (
        <div className="form-foot">
          <Button kind="primary" disabled={text === memory.content} onClick={() => void save()}>
            {t('Save')}
          </Button>
          {text === memory.content ? null : (
            <Button onClick={() => setText(memory.content)}>{t('Discard changes')}</Button>
          )}
        </div>
      ) : null}
    </div>
  );
}

function MemoryDocument({ path, title }: { path: string; title: string }) {
  const memory = useQuery({
    queryKey: ['memory', path],
    queryFn: ({ signal }) => get<Memory>(path, {}, signal),
  });
  if (memory.error !== null) return <ErrorNote error={memory.error} onRetry={() => void memory.refetch()} />;
  if (memory.data === undefined) return <Skeleton rows={1} height={260} />;
  return <Editor key={memory.data.checksumSha256} memory={memory.data} path={path} title={title} />;
}

type Props = { agentId: string; subject: string; onSubject: (subject: string) => void };

/** The notes of an agent, and its notes about a subject. */
export function AgentMemory({ agentId, subject, onSubject }: Props) {
  const base = `v1/agents/${encodeURIComponent(agentId)}`;
  const own = `${base}/users/${encodeURIComponent(subject)}/memory`;
  return (
    <div className="form">
      <p className="meta">{t('Sessions that have begun keep what they saw.')}</p>
      <MemoryDocument path={`${base}/memory`} title={t('Notes that every session sees')} />
      <h2>{t('Of a subject')}</h2>
      <SubjectChoice agentId={agentId} value={subject} onChange={onSubject} />
      {subject === '' ? (
        <p className="meta">{t('Choose a subject to see what the agent has noted about it.')}</p>
      ) : (
        <>
          <MemoryDocument key={`${own} user`} path={`${own}?target=user`} title={t('About {subject}', { subject })} />
          <MemoryDocument
            key={`${own} memory`}
            path={`${own}?target=memory`}
            title={t('Notes of the agent for {subject}', { subject })}
          />
        </>
      )}
    </div>
  );
}
