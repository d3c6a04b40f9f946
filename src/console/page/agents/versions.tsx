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
import { formatDateTime } from '../text/format.ts';

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

/** All versions, the difference between two of them, and the production version. */
export function Versions({ agent, left, right, onCompare }: Props) {
  const versions = useVersions(agent.id);
  const canWrite = useCan('agents:write');
  const [asked, setAsked] = useState<number>();
  const { promote, error } = usePromote(agent);
  const rows = (versions.data?.pages ?? []).flatMap(({ data }) => data);
  const options = rows.map(({ version }) => [String(version), t('Version {n}', { n: version })] as const);
  if (versions.error !== null) return <ErrorNote error={versions.error} onRetry={() => void versions.refetch()} />;
  if (versions.isPending) return <Skeleton />;
  return (
    <>
      {error === undefined ? null : <ErrorNote error={error} />}
      <div className="table-scroll">
        <table className="list">
          <thead>
            <tr>
              <th scope="col">{t('Version')}</th>
              <th scope="col">{t('Model')}</th>
              <th scope="col">{t('Created')}</th>
              <th scope="col">{t('State')}</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.id}>
                <td>{row.version}</td>
                <td className="mono">{row.modelName}</td>
                <td>{formatDateTime(row.createdAt)}</td>
                <td>
                  {row.version === agent.productionVersion ? <span className="tag">{t('in production')}</span> : null}
                  {row.version !== agent.productionVersion && canWrite ? (
                    <Button onClick={() => setAsked(row.version)}>{t('Promote')}</Button>
                  ) : null}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
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
