import { useMemo, useState } from 'react';
import { announce } from '../data/announce.ts';
import { request } from '../data/http.ts';
import { queries, useCan, useVersion, useVersions } from '../data/queries.ts';
import type { Agent } from '../data/types.ts';
import { t } from '../i18n/t.ts';
import { Button } from '../parts/button.tsx';
import { Confirm } from '../parts/confirm.tsx';
import { DiffView } from '../parts/diff-view.tsx';
import { ErrorNote } from '../parts/error-note.tsx';
import { Choice } from '../parts/field.tsx';
import { Skeleton } from '../parts/states.tsx';
import { Table } from '../parts/table.tsx';
import { formatDateTime } from '../text/format.ts';
import { TagForm, TagList, deleteTag, useTags } from './tags.tsx';

type VersionData = ReturnType<typeof useVersion>['data'];

/** A version as text for a comparison by lines: the prompt as it is, the rest as JSON. */
function writeVersion(version: VersionData): string {
  if (version === undefined) return '';
  const { systemPrompt, modelName, tools, roles, skills, mcpServers, metadata } = version;
  const rest = JSON.stringify({ tools, roles, skills, mcpServers, metadata }, null, 2);
  return `model: ${modelName}\n\n${systemPrompt}\n\n${rest}\n`;
}

function Difference({ agentId, left, right }: { agentId: string; left: number; right: number }) {
  const before = useVersion(agentId, left);
  const after = useVersion(agentId, right);
  const texts = useMemo(
    () => [writeVersion(before.data), writeVersion(after.data)] as const,
    [before.data, after.data],
  );
  const error = before.error ?? after.error;
  if (error !== null) return <ErrorNote error={error} />;
  if (before.data === undefined || after.data === undefined) return <Skeleton rows={1} height={160} />;
  return <DiffView before={texts[0]} after={texts[1]} />;
}

function usePromote(agent: Agent) {
  const [error, setError] = useState<unknown>();
  const promote = async (version: number) => {
    setError(undefined);
    try {
      await request('PUT', `v1/agents/${agent.id}/production`, { body: { version } });
      announce(t('Version {n} is in production.', { n: version }));
      for (const key of ['agent', 'agents']) await queries.invalidateQueries({ queryKey: [key] });
    } catch (thrown) {
      setError(thrown);
    }
  };
  return { promote, error };
}

type Props = { agent: Agent; left: number; right: number; onCompare: (left: number, right: number) => void };

/** All versions with their tags, the difference between two of them, and the production version. */
export function Versions({ agent, left, right, onCompare }: Props) {
  const versions = useVersions(agent.id);
  const canWrite = useCan('agents:write');
  const canDeploy = useCan('agents:deploy');
  const tags = useTags(agent.id);
  const [tagging, setTagging] = useState<number>();
  const [tagError, setTagError] = useState<unknown>();
  const [asked, setAsked] = useState<number>();
  const { promote, error } = usePromote(agent);
  const rows = (versions.data?.pages ?? []).flatMap(({ data }) => data);
  const options = rows.map(({ version }) => [String(version), t('Version {n}', { n: version })] as const);
  if (versions.error !== null) return <ErrorNote error={versions.error} onRetry={() => void versions.refetch()} />;
  if (versions.isPending) return <Skeleton />;
  return (
    <>
      {error === undefined ? null : <ErrorNote error={error} />}
      {tagError === undefined ? null : <ErrorNote error={tagError} />}
      <Table columns={['Version', 'Model', 'Created', 'State', '']}>
        {rows.map((row) => (
          <tr key={row.id}>
            <td className="cell-labelled">{row.version}</td>
            <td className="mono">{row.modelName}</td>
            <td>{formatDateTime(row.createdAt)}</td>
            <td>
              {row.version === agent.productionVersion ? <span className="tag">{t('in production')}</span> : null}
              <TagList
                tags={tags.filter(({ version }) => version === row.version)}
                onDelete={canWrite ? (name) => void deleteTag(agent.id, name).catch(setTagError) : undefined}
              />
            </td>
            <td>
              <div className="form-foot row-actions">
                {row.version !== agent.productionVersion && canDeploy ? (
                  <Button onClick={() => setAsked(row.version)}>{t('Promote')}</Button>
                ) : null}
                {canWrite ? <Button onClick={() => setTagging(row.version)}>{t('Tag')}</Button> : null}
              </div>
            </td>
          </tr>
        ))}
      </Table>
      {versions.hasNextPage ? <Button onClick={() => void versions.fetchNextPage()}>{t('Load more')}</Button> : null}
      {rows.length < 2 ? null : (
        <section className="form">
          <h2>{t('Difference')}</h2>
          <div className="filters">
            <Choice
              isInline
              label={t('From')}
              value={String(left)}
              options={options}
              onChange={(value) => onCompare(Number(value), right)}
            />
            <Choice
              isInline
              label={t('To')}
              value={String(right)}
              options={options}
              onChange={(value) => onCompare(left, Number(value))}
            />
          </div>
          <Difference agentId={agent.id} left={left} right={right} />
        </section>
      )}
      {tagging === undefined ? null : (
        <TagForm agentId={agent.id} version={tagging} onClose={() => setTagging(undefined)} />
      )}
      {asked === undefined ? null : (
        <Confirm
          title={t('Promote version {n}?', { n: asked })}
          text={t('New sessions of {name} use it from now on. Sessions that exist keep their version.', {
            name: agent.name,
          })}
          action={t('Promote')}
          onConfirm={() => void promote(asked)}
          onClose={() => setAsked(undefined)}
        />
      )}
    </>
  );
}
