import type { EventEnvelope } from '../../../src/agents/contract/events.ts';
import type { Outcome, TrialResult } from './trial.ts';

type Report = (fault: string) => void;
type Payload = Record<string, unknown> & { content?: { text: string }[] };

const textOf = (event: EventEnvelope | undefined) =>
  ((event?.payload as Payload | undefined)?.content ?? []).map(({ text }) => text).join('');
const field = (event: EventEnvelope, name: string) => (event.payload as Payload)[name];

/** Checks everything that a crash must not change. Returns the violations, in sentences. */
export function findFaults(result: TrialResult): string[] {
  const faults = [...result.faults];
  for (const outcome of result.outcomes) {
    const report: Report = (fault) => faults.push(`session ${outcome.plan.name}: ${fault}`);
    outcome.faults.forEach(report);
    checkLog(outcome, report);
    checkAccepted(outcome, report);
    checkCalls(outcome, report);
    checkTurns(outcome, report);
    checkPrompts(outcome, report);
    checkFinals(outcome, report);
    for (const { id, type, text } of outcome.accepted) {
      if (type !== 'user.steer' || awaitsNextTurn(outcome, id)) continue;
      const { message } = JSON.parse(text) as { message: string };
      if (!result.model.hasRead(message)) report(`the model never read "${message}"`);
    }
  }
  return faults;
}

function checkLog({ log, seen }: Outcome, report: Report): void {
  log.forEach((event, index) => {
    if (event.sequence !== index + 1) report(`sequence ${event.sequence} at place ${index + 1}`);
    if (seen.get(event.sequence) !== event.id) report(`the application never saw event ${event.sequence}`);
  });
  if (new Set(log.map((event) => event.id)).size !== log.length) report('an event is in the log twice');
  if (seen.size !== log.length) report(`${seen.size} events seen, ${log.length} in the log`);
}

/** Guidance to an interrupted turn is sent with the next turn, and here none has followed. */
function awaitsNextTurn({ log }: Outcome, id: string): boolean {
  const last = log.findLast((event) => event.type === 'session.status_idle');
  const steer = log.find((event) => event.id === id);
  return last !== undefined && steer?.turnId === last.turnId && field(last, 'interrupted') === true;
}

function checkAccepted(outcome: Outcome, report: Report): void {
  const { log, accepted } = outcome;
  for (const { id, type } of accepted) {
    const found = log.filter((event) => event.id === id);
    if (found.length !== 1) report(`an accepted ${type} is ${found.length} times in the log`);
    const [event] = found;
    const mayWait = type === 'user.interrupt' || (type === 'user.steer' && awaitsNextTurn(outcome, id));
    if (!mayWait && event?.processedAt === null) report(`${type} ${id} is left as ${event.status}`);
  }
  const known = new Set(accepted.map(({ id }) => id));
  for (const event of log) {
    if (event.type.startsWith('user.') && !known.has(event.id)) report(`${event.type} ${event.id} was never accepted`);
  }
}

const UNKNOWN = 'the outcome is unknown';

/** Whether a call was interrupted, so that its effect is unknown. */
export function hasUnknownOutcome({ outcomes }: TrialResult): boolean {
  return outcomes.some(({ log }) => log.some((event) => textOf(event).includes(UNKNOWN)));
}

/** Problems of a call's result, apart from its side effect. */
function checkResult(
  use: EventEnvelope,
  results: readonly EventEnvelope[],
  interrupted: ReadonlySet<string | null>,
): string[] {
  const name = String(field(use, 'name'));
  const text = textOf(results[0]);
  const failed = hasFailed(results[0]);
  const broken = text.includes('Interrupted by the user');
  const isExplained = broken || text.includes('denied') || text.includes(UNKNOWN);
  const faults = [
    results.length !== 1 && `${name} ${use.id} has ${results.length} results`,
    broken && !interrupted.has(use.turnId) && `${name} is called interrupted by a user who did not`,
    name === 'search_files' && failed && !broken && `a read-only call was not run to its end: ${text}`,
    failed && !isExplained && `${name} failed: ${text}`,
  ];
  return faults.filter((fault) => fault !== false);
}

function hasFailed(result: EventEnvelope | undefined): boolean {
  return result !== undefined && field(result, 'is_error') === true;
}

/** How often the side effect of a call may have happened, by its result. */
const ALLOWED_COUNTS = { done: [1], denied: [0], open: [0, 1] };

/** Each use has one result, and each side effect happened as often as the result says. */
function checkCalls({ log, ledger, plan }: Outcome, report: Report): void {
  const interrupted = new Set(log.filter((event) => field(event, 'interrupted') === true).map((event) => event.turnId));
  const told = new Map<string, keyof typeof ALLOWED_COUNTS>();
  for (const use of log.filter((event) => event.type === 'agent.tool_use')) {
    const results = log.filter((event) => field(event, 'tool_use_id') === use.id && event.type === 'agent.tool_result');
    for (const fault of checkResult(use, results, interrupted)) report(fault);
    const { command } = field(use, 'input') as { command?: string };
    const line = command === undefined ? undefined : /echo (\S+)/.exec(command)?.[1];
    if (line === undefined) continue;
    if (told.has(line)) report(`the call ${line} was announced twice`);
    const denied = textOf(results[0]).includes('denied');
    told.set(line, hasFailed(results[0]) ? (denied ? 'denied' : 'open') : 'done');
  }
  for (const [line, state] of told) {
    const count = ledger.filter((entry) => entry === line).length;
    if (!ALLOWED_COUNTS[state].includes(count)) {
      report(`the side effect ${line} of a call that is ${state} happened ${count} times`);
    }
  }
  for (const line of ledger) if (!told.has(line)) report(`the side effect ${line} of ${plan.name} is of no call`);
}

const NEXT_STATES: Record<string, string[]> = {
  new: ['running'],
  running: ['waiting', 'ended'],
  waiting: ['running', 'waiting', 'ended'],
};

/** The status events of one turn: one start, pauses that each go on, one end with its usage. */
function checkTurn(turn: string | null, events: readonly EventEnvelope[], report: Report): void {
  let state = 'new';
  for (const event of events) {
    const stop = field(event, 'stop_reason') as { type: string; message?: string } | undefined;
    const next = stop === undefined ? 'running' : stop.type === 'requires_action' ? 'waiting' : 'ended';
    if (NEXT_STATES[state]?.includes(next) !== true) report(`turn ${turn} went from ${state} to ${next}`);
    if (stop?.type === 'error') report(`turn ${turn} ended with an error: ${stop.message}`);
    if (next === 'ended' && field(event, 'interrupted') !== true && !(Number(event.usage?.calls) > 0)) {
      report(`turn ${turn} ended without usage`);
    }
    state = next;
  }
}

/** One turn at a time, and all of them ended. */
function checkTurns({ log, record }: Outcome, report: Report): void {
  const changes = log.filter((event) => event.type.startsWith('session.status_'));
  let open: string | null = null;
  for (const event of changes) {
    if (open !== null && event.turnId !== open) report(`turn ${event.turnId} began before ${open} had ended`);
    const stop = field(event, 'stop_reason') as { type: string } | undefined;
    open = stop === undefined || stop.type === 'requires_action' ? event.turnId : null;
  }
  if (open !== null) report(`turn ${open} never ended`);
  for (const [turn, events] of Map.groupBy(changes, (event) => event.turnId)) checkTurn(turn, events, report);
  if (record['usage'] === null) report('the session has no usage');
  if (record['status'] !== 'idle' || record['queuedCount'] !== 0) report('the session does not rest');
}

/** Each prompt opened one turn, in the order in which they were accepted, and the model finished it. */
function checkPrompts({ log }: Outcome, report: Report): void {
  const starts = log.filter((event) => event.type === 'session.status_running').map((event) => event.turnId);
  const prompts = log.filter((event) => event.type === 'user.message');
  const places = prompts.map((event) => starts.indexOf(event.turnId));
  if (places.some((place, index) => place < 0 || place <= (places[index - 1] ?? -1))) {
    report(`prompts opened the turns ${places.join(', ')}`);
  }
  for (const prompt of prompts) {
    const tag = /"tag":"(\w+)"/.exec(textOf(prompt))?.[1];
    const ends = log.filter((event) => event.type === 'agent.message' && textOf(event) === `done: ${tag}`);
    const end = log.find((event) => event.turnId === prompt.turnId && field(event, 'usage') !== undefined);
    const broken = end !== undefined && field(end, 'interrupted') === true;
    if (broken ? ends.length > 1 : ends.length !== 1) report(`the prompt ${tag} was finished ${ends.length} times`);
  }
}

/** A start and its final result are one event, and one turn gives it to the model. */
function checkFinals({ log, finals }: Outcome, report: Report): void {
  for (const ask of finals) {
    const results = log.filter(
      (event) => event.type === 'user.custom_tool_result' && field(event, 'tool_use_id') === ask,
    );
    const statuses = results.map((event) => String(field(event, 'status')));
    if (statuses.join() !== 'completed') report(`the final result of ${ask} stands in the log as ${statuses.join()}`);
    const told = log.filter(
      (event) => event.type === 'agent.message' && textOf(event).includes(`charged ${ask}`),
    ).length;
    if (told !== 1) report(`the model was told of the final result of ${ask} ${told} times`);
  }
}
