// Tests: test/agents/worker/notices.test.ts
import { Counter } from 'prom-client';
import type { Registry } from 'prom-client';
import { sendWake } from '../channels.ts';
import type { Bus } from '../../platform/bus/bus.ts';
import type { Db } from '../../platform/db/db.ts';
import { errorText } from '../../platform/errors.ts';
import type { Logger } from '../../platform/log.ts';
import type { SandboxNotice } from '../../sandbox/sandbox.ts';
import { enqueueNotice } from './enqueue.ts';

/** Of one notice in UTF-8. */
export const MAX_NOTICE_BYTES = 8 * 1024;
/** Of one session; each may cost a model call. */
export const MAX_NOTICES_PER_MINUTE = 10;
const WINDOW_MS = 60_000;

type Dropped = 'unexpected' | 'rate' | 'queued';
type Deps = { db: Db; bus: Bus; log: Logger };

/**
 * Queues notices of background processes, which start turns. A program in a sandbox may forge them, so only processes
 * that the session started with a request for notices are heard, 10 times a minute a session, with 8 KiB each, and no
 * more than 8 KiB wait in line. The rest is dropped and counted.
 */
export function openNoticeQueue({ db, bus, log }: Deps, registry?: Registry, now: () => number = Date.now) {
  const dropped =
    registry &&
    new Counter({
      name: 'capstan_notices_dropped_total',
      help: 'Notices of background processes that were dropped, by reason.',
      labelNames: ['reason'],
      registers: [registry],
    });
  for (const reason of ['unexpected', 'rate', 'queued'] satisfies Dropped[]) dropped?.inc({ reason }, 0);
  const windows = new Map<string, { begunMs: number; count: number }>();

  const isTooMany = (sessionId: string): boolean => {
    const time = now();
    const window = windows.get(sessionId);
    if (window !== undefined && time - window.begunMs < WINDOW_MS) {
      window.count += 1;
      return window.count > MAX_NOTICES_PER_MINUTE;
    }
    for (const [id, { begunMs }] of windows) if (time - begunMs >= WINDOW_MS) windows.delete(id);
    windows.set(sessionId, { begunMs: time, count: 1 });
    return false;
  };

  const push = async ({ sessionId, text, isExpected }: SandboxNotice): Promise<void> => {
    if (isExpected === false) return dropped?.inc({ reason: 'unexpected' });
    if (isTooMany(sessionId)) return dropped?.inc({ reason: 'rate' });
    const outcome = await enqueueNotice(db, sessionId, cutText(text), MAX_NOTICE_BYTES);
    if (outcome === 'queued') sendWake(bus, sessionId);
    else if (outcome === 'full') dropped?.inc({ reason: 'queued' });
  };

  return {
    push: (notice: SandboxNotice): Promise<void> =>
      push(notice).catch((error: unknown) => {
        log.warn({ sessionId: notice.sessionId, error: errorText(error) }, 'a notice was lost');
      }),
  };
}

function cutText(text: string): string {
  const bytes = Buffer.from(text.slice(0, MAX_NOTICE_BYTES), 'utf8');
  return bytes.length <= MAX_NOTICE_BYTES ? bytes.toString('utf8') : bytes.toString('utf8', 0, MAX_NOTICE_BYTES - 3);
}
