import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { durationOf, isToolResult, isToolUse } from '../data/events.ts';
import type { EventEnvelope } from '../data/events.ts';
import type { Session } from '../data/types.ts';
import { t, tCount } from '../i18n/t.ts';
import { Copy } from '../parts/copy.tsx';
import { JsonView } from '../parts/json-view.tsx';
import { formatCount, formatDateTime, formatDuration } from '../text/format.ts';
import { formatMoney } from '../text/money.ts';
import { nameTool } from './rows/tool-summary.ts';
import type { TranscriptStore } from './transcript-store.ts';
import { FactList } from '../parts/facts.tsx';

type Props = { session: Session; store: TranscriptStore; version: number; selected: EventEnvelope | undefined };
type ToolLine = { name: string; calls: number; failed: number; times: number[] };

function countTools(store: TranscriptStore): ToolLine[] {
  const lines = new Map<string, ToolLine>();
  const names = new Map<string, string>();
  for (const event of store.loaded()) {
    if (!isToolUse(event)) continue;
    const use = event.payload;
    const name = nameTool(use);
    names.set(use.id, name);
    const line = lines.get(name) ?? { name, calls: 0, failed: 0, times: [] };
    line.calls += 1;
    lines.set(name, line);
  }
  for (const event of store.loaded()) {
    if (!isToolResult(event)) continue;
    const result = event.payload;
    const line = lines.get(names.get(result.tool_use_id) ?? '');
    if (line === undefined) continue;
    if (result.is_error === true) line.failed += 1;
    const ms = durationOf(result);
    if (ms !== undefined) line.times.push(ms);
  }
  return [...lines.values()].sort((left, right) => right.calls - left.calls);
}

function median(times: readonly number[]): number | undefined {
  return times.toSorted((left, right) => left - right)[Math.floor(times.length / 2)];
}

function Tools({ store, version }: { store: TranscriptStore; version: number }) {
  // eslint-disable-next-line react-hooks/exhaustive-deps
  const lines = useMemo(() => countTools(store), [store, version]);
  if (lines.length === 0) return null;
  return (
    <section>
      <h3>{t('Tools on the loaded pages')}</h3>
      <table className="small-table">
        <tbody>
          {lines.map((line) => {
            const middle = median(line.times);
            return (
              <tr key={line.name}>
                <td className="mono">{line.name}</td>
                <td>
                  {tCount(line.calls, '{count} call', '{count} calls')}
                  {line.failed === 0 ? null : (
                    <span className="error-text">, {t('{n} failed', { n: line.failed })}</span>
                  )}
                </td>
                <td>{middle === undefined ? '' : formatDuration(middle)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </section>
  );
}

function Facts({ session }: { session: Session }) {
  const { usage } = session;
  const facts: readonly (readonly [string, React.ReactNode])[] = [
    [t('Session'), <Copy key="id" text={session.id} />],
    [
      t('Agent'),
      <Link key="agent" to="/agents/$agentId/$tab" params={{ agentId: session.agentId, tab: 'overview' }}>
        {session.agentName ?? session.agentId}@{session.agentVersion}
      </Link>,
    ],
    [
      t('Subject'),
      <Link key="subject" to="/sessions" search={{ subject: session.subjectId }}>
        {session.subjectId}
      </Link>,
    ],
    [t('Created'), formatDateTime(session.createdAt)],
    [t('Last activity'), formatDateTime(session.lastActivityAt)],
    [t('Cost'), formatMoney(usage?.cost_usd)],
    [
      t('Tokens'),
      usage?.input === undefined
        ? '–'
        : t('{input} in / {output} out', { input: formatCount(usage.input), output: formatCount(usage.output ?? 0) }),
    ],
    [t('Context'), usage?.context_percent === undefined ? '–' : `${Math.round(usage.context_percent)} %`],
    [t('Queued'), String(session.queuedCount)],
  ];
  return <FactList facts={facts} />;
}

/** Details of the session, its tools, and the selected event. */
export function Details({ session, store, version, selected }: Props) {
  return (
    <aside className="details" aria-label={t('Details')} tabIndex={0}>
      <Facts session={session} />
      {session.goal === null ? null : (
        <section>
          <h3>{t('Goal')}</h3>
          <p>{session.goal.objective}</p>
          <p className="meta">
            {session.goal.status}, {session.goal.turnsUsed}/{session.goal.maxTurns}
          </p>
        </section>
      )}
      <Tools store={store} version={version} />
      {selected === undefined ? null : (
        <section>
          <h3>{t('Selected event')}</h3>
          <JsonView value={selected} />
        </section>
      )}
    </aside>
  );
}
