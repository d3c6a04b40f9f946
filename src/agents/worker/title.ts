import type { Db } from '../../platform/db/db.ts';
import { buildCallRecord } from '../loop/turn/call-record.ts';
import { addCall } from '../loop/turn/usage.ts';
import { splitUsage } from '../contract/usage.ts';
import { textOf } from '../log/read.ts';
import { buildTitleUpdate } from '../log/build-events.ts';
import type { Turn } from '../loop/turn/types.ts';
import type { EventEnvelope } from '../contract/events.ts';
import type { LogEvent } from '../log/event.ts';
import { errorText } from '../../platform/errors.ts';
import { collectReply } from '../../inference/collect.ts';
import type { Inference } from '../../inference/model.ts';
import type { Logger } from '../../platform/log.ts';
import { writeJournal } from '../store/journal.ts';
import type { Claim } from '../store/leases.ts';
import type { SessionJournal } from './journal.ts';

type TitleDeps = {
  db: Db;
  inference: Inference;
  log: Logger;
  publish: (envelopes: EventEnvelope[]) => void;
};

const SYSTEM = 'Write a title of 3 to 7 words for this conversation, in its language. Answer with the title only.';
const EXCERPT = 500;
const MAX_TITLE = 80;
const TIMEOUT_MS = 60_000;

/** Sets the title of a session after its first turn, concurrently with later turns. Keeps a title set meanwhile. */
export function startTitle(claim: Claim, turn: Turn, journal: SessionJournal, deps: TitleDeps): void {
  if (claim.title !== null || claim.titleFixed) return;
  const exchange = readExchange(journal.events);
  if (exchange === undefined) return;
  writeTitle(claim, turn.id, exchange, deps).catch((error: unknown) => {
    deps.log.warn({ error: errorText(error) }, 'could not generate a title');
  });
}

function readExchange(events: readonly LogEvent[]): string | undefined {
  const text = (type: 'user.message' | 'agent.message') => {
    const event = events.find((candidate) => candidate.type === type);
    return event && cutText(textOf(event.payload), EXCERPT);
  };
  const prompt = text('user.message');
  const answer = text('agent.message');
  // A turn that failed before it said anything names nothing: the next one does.
  return prompt === undefined || answer === undefined ? undefined : `${prompt}\n\n${answer}`;
}

async function writeTitle(claim: Claim, turnId: string, exchange: string, deps: TitleDeps): Promise<void> {
  const { modelName } = claim.version;
  const model = deps.inference.findModel(modelName);
  if (model === undefined) return;
  const request = {
    model: modelName,
    system: SYSTEM,
    messages: [{ role: 'user' as const, content: [{ type: 'text' as const, text: exchange }] }],
    tools: [],
  };
  const startedAt = new Date();
  const reply = await collectReply(deps.inference.stream(request, AbortSignal.timeout(TIMEOUT_MS)));
  const answering = deps.inference.findModel(reply.model) ?? model;
  const calls = [buildCallRecord({ id: turnId }, { model: answering, startedAt, usage: reply.usage })];
  const said = reply.content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
  const title = cleanTitle(said) || cleanTitle(exchange);
  const { usageAdd } = splitUsage(addCall({}, reply.usage, answering));
  const appended = await deps.db.transaction(async (tx) => {
    const { rows } = await tx.query<{ free: boolean }>(
      `SELECT title IS NULL AND NOT title_fixed AND status <> 'archived' AS free FROM sessions WHERE id = $1 FOR UPDATE`,
      [claim.sessionId],
    );
    if (rows[0] === undefined) return undefined;
    // The call was made and counts, whether its title is still wanted or not.
    const change = rows[0].free
      ? { events: [buildTitleUpdate({ turnId }, title)], session: { title, usageAdd } }
      : { events: [], session: { usageAdd } };
    const [written] = await writeJournal(tx, [{ sessionId: claim.sessionId, epoch: null, ...change, calls }]);
    return written;
  });
  if (appended !== undefined) deps.publish(appended.events);
}

/** The first line that says something, without the marks that models put around a title; empty when there is none. */
export function cleanTitle(text: string): string {
  const line = text.split('\n').find((candidate) => candidate.trim() !== '') ?? '';
  return cutText(line.replaceAll(/^["'#*\s]+|(?<!["'*\s])["'*\s]+$/g, ''), MAX_TITLE);
}

/** Truncates to a number of UTF-16 units, without splitting a character. */
function cutText(text: string, length: number): string {
  return text.slice(0, length).replace(/[\uD800-\uDBFF]$/, '');
}
