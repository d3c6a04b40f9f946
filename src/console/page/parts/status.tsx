import {
  Archive,
  CircleAlert,
  CircleCheck,
  CircleDashed,
  CircleDollarSign,
  CircleX,
  Clock,
  LoaderCircle,
} from 'lucide-react';
import type { Session } from '../data/types.ts';
import { t } from '../i18n/t.ts';

export type StatusKind = keyof typeof ICONS;

const ICONS = {
  running: LoaderCircle,
  waiting: CircleAlert,
  idle: CircleCheck,
  failed: CircleX,
  archived: Archive,
  stuck: Clock,
  budget: CircleDollarSign,
  starting: CircleDashed,
  stopping: CircleDashed,
  done: CircleCheck,
  working: CircleCheck,
  failing: CircleX,
  retrying: CircleDashed,
};
const WORDS: Record<StatusKind, string> = {
  running: 'running',
  waiting: 'waiting',
  idle: 'idle',
  failed: 'failed',
  archived: 'archived',
  stuck: 'stuck',
  budget: 'out of budget',
  starting: 'starting',
  stopping: 'stopping',
  done: 'done',
  working: 'working',
  failing: 'failing',
  retrying: 'being tried',
};
/** A running session without events for longer is shown as stuck. */
export const STUCK_MS = 10 * 60_000;

export function findStatus(session: Session): StatusKind {
  if (session.status === 'waiting_on_human') return 'waiting';
  if (session.status === 'archived') return 'archived';
  if (session.status === 'running') {
    return Date.now() - Date.parse(session.lastActivityAt) > STUCK_MS ? 'stuck' : 'running';
  }
  const stop: string | undefined = session.lastStopReason?.type;
  if (stop === 'budget_reached') return 'budget';
  return stop === 'error' ? 'failed' : 'idle';
}

/** Icon, word and colour: never colour alone. */
export function Status({ kind }: { kind: StatusKind }) {
  const Icon = ICONS[kind];
  return (
    <span className={`status status-${kind}`}>
      <Icon size={14} aria-hidden="true" />
      <span>{t(WORDS[kind])}</span>
    </span>
  );
}
