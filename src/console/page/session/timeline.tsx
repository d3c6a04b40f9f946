import { isStatus } from '../data/http.ts';
import { useTurns } from '../data/queries.ts';
import type { Turn, TurnStep } from '../data/types.ts';
import { t, tCount } from '../i18n/t.ts';
import { ErrorNote } from '../parts/error-note.tsx';
import { Empty, Skeleton } from '../parts/states.tsx';
import { formatDuration } from '../text/format.ts';
import { formatMoney } from '../text/money.ts';
import { describeTurn } from './turn-header.tsx';

type Props = { sessionId: string; onSeek: (sequence: number) => void };

function describeError(error: TurnStep['error']): string {
  if (error === null) return '';
  return typeof error === 'string' ? error : (error.code ?? error.message ?? t('failed'));
}

/** A bar on the time axis of its turn, split at the first token. */
function Bar({ step, from, span }: { step: TurnStep; from: number; span: number }) {
  const start = Date.parse(step.startedAt) - from;
  const end = (step.endedAt === null ? Date.now() : Date.parse(step.endedAt)) - from;
  const first = step.firstTokenAt === null ? start : Date.parse(step.firstTokenAt) - from;
  const x = (ms: number) => (Math.max(0, Math.min(span, ms)) / span) * 100;
  return (
    <svg className="step-bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
      <rect className="step-wait" x={x(start)} y="2" width={Math.max(0.3, x(first) - x(start))} height="6" />
      <rect
        className={step.error === null ? 'step-run' : 'step-failed'}
        x={x(first)}
        y="2"
        width={Math.max(0.3, x(end) - x(first))}
        height="6"
      />
    </svg>
  );
}

function TurnRows({ turn, number, onSeek }: { turn: Turn; number: number; onSeek: (sequence: number) => void }) {
  const from = Date.parse(turn.startedAt);
  const end = turn.endedAt === null ? Date.now() : Date.parse(turn.endedAt);
  const span = Math.max(1, end - from);
  return (
    <section className="timeline-turn">
      <h3>
        <button type="button" className="link" onClick={() => onSeek(turn.firstSequence ?? 1)}>
          {t('Turn {n}', { n: number })}
        </button>
        <span className="meta">{describeTurn(turn)}</span>
      </h3>
      {(turn.steps ?? []).map((step) => (
        <div key={step.index} className="step">
          <span className="step-name">{step.model ?? t('model call')}</span>
          <Bar step={step} from={from} span={span} />
          <span className="step-note">
            {step.endedAt === null
              ? t('running')
              : formatDuration(Date.parse(step.endedAt) - Date.parse(step.startedAt))}
            {step.usage?.cost_usd === undefined ? '' : ` · ${formatMoney(step.usage.cost_usd)}`}
            {step.toolUseIds.length === 0
              ? ''
              : ` · ${tCount(step.toolUseIds.length, '{count} call', '{count} calls')}`}
            {step.retries === 0 ? '' : ` · ${tCount(step.retries, '{count} retry', '{count} retries')}`}
            {step.error === null ? null : <span className="error-text"> {describeError(step.error)}</span>}
          </span>
        </div>
      ))}
    </section>
  );
}

/** Turns and their model calls on a common time axis. */
export function Timeline({ sessionId, onSeek }: Props) {
  const turns = useTurns(sessionId);
  if (isStatus(turns.error, 404)) return <Empty text={t('This server does not keep the times of turns.')} />;
  if (turns.error !== null) return <ErrorNote error={turns.error} onRetry={() => void turns.refetch()} />;
  if (turns.data === undefined) return <Skeleton />;
  if (turns.data.length === 0) return <Empty text={t('No turn has started yet.')} />;
  return (
    <div className="timeline" tabIndex={0} role="region" aria-label={t('Timeline')}>
      {turns.data.map((turn, index) => (
        <TurnRows key={turn.id} turn={turn} number={index + 1} onSeek={onSeek} />
      ))}
    </div>
  );
}
