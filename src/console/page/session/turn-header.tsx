import type { Turn } from '../data/types.ts';
import { t, tCount } from '../i18n/t.ts';
import { formatCount, formatDuration } from '../text/format.ts';
import { formatMoney } from '../text/money.ts';

/** "12 steps, 38 s, $0.021, 14.2k in / 1.1k out" */
export function describeTurn(turn: Turn): string {
  const steps = turn.steps ?? [];
  const { usage } = turn;
  const end = turn.endedAt === null ? Date.now() : Date.parse(turn.endedAt);
  const parts = [
    steps.length === 0 ? '' : tCount(steps.length, '{count} step', '{count} steps'),
    formatDuration(Math.max(0, end - Date.parse(turn.startedAt))),
    usage?.cost_usd === undefined ? '' : formatMoney(usage.cost_usd),
    usage?.input === undefined
      ? ''
      : t('{input} in / {output} out', { input: formatCount(usage.input), output: formatCount(usage.output ?? 0) }),
  ];
  return parts.filter((part) => part !== '').join(', ');
}

export function TurnHeader({ number, turn }: { number: number | undefined; turn: Turn | undefined }) {
  return (
    <div className="turn-header">
      <strong>{number === undefined ? t('Turn') : t('Turn {n}', { n: number })}</strong>
      {turn === undefined ? null : <span>{describeTurn(turn)}</span>}
    </div>
  );
}
