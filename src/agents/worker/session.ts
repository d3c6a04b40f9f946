import type { Sandboxes } from '../../sandbox/sandbox.ts';
import type { Bus } from '../../platform/bus/bus.ts';
import { publishEvents, sendDelta } from '../channels.ts';
import type { Objects } from '../../platform/objects/objects.ts';
import type { Db } from '../../platform/db/db.ts';
import { runTurn } from '../loop/turn/turn.ts';
import { findForgottenSteers } from '../log/turns.ts';
import { buildTurnStart, buildWaiting } from '../log/build-events.ts';
import type { Tool } from '../tools/tool.ts';
import { dayOf } from '../loop/turn/environment.ts';
import { findToolsetPolicy } from '../loop/tool-calls/policy.ts';
import type { SandboxFacts } from '../loop/turn/environment.ts';
import type { Turn, TurnDeps } from '../loop/turn/types.ts';
import type { Egress } from '../../platform/egress/egress.ts';
import type { EventEnvelope } from '../contract/events.ts';
import { errorText } from '../../platform/errors.ts';
import { newId } from '../../platform/ids.ts';
import { limitCost } from '../../inference/budgeted.ts';
import type { Inference } from '../../inference/model.ts';
import type { Budgets } from '../../platform/budgets/budgets.ts';
import type { Mcp } from '../mcp/mcp.ts';
import type { Vaults } from '../vaults/resolve.ts';
import type { Logger } from '../../platform/log.ts';
import type { Trace } from '../../platform/trace-context.ts';
import { omitUndefined } from '../../platform/records.ts';
import { listTurnActions } from '../store/pending-actions.ts';
import { listInbox } from '../store/inbox.ts';
import { readPermissions, releaseIfIdle } from '../store/leases.ts';
import { setWaiting } from '../store/turn-state.ts';
import type { Claim } from '../store/leases.ts';
import type { Web } from '../web/web.ts';
import { buildAttachmentPort } from './attachments.ts';
import { expireActions } from './expire.ts';
import { mayHaveGoal, pursueGoal } from './goal.ts';
import { buildMcpPort } from './mcp.ts';
import { openJournal } from './journal.ts';
import type { SessionJournal } from './journal.ts';
import type { Appender } from './appender.ts';
import { enqueueSteer } from './enqueue.ts';
import { needsSandbox, startSandbox } from './prepare.ts';
import { readPromptNotes } from './snapshot.ts';
import { startTitle } from './title.ts';
import type { WarmLogs } from './warm-logs.ts';
import { buildToolPorts } from './tool-ports.ts';
import { runTraced } from './traces.ts';
import type { TurnTraces } from './traces.ts';

export type WorkerDeps = {
  db: Db;
  bus: Bus;
  objects: Objects;
  sandboxes: Sandboxes;
  inference: Inference;
  tools: ReadonlyMap<string, Tool>;
  mcp: Mcp;
  egress: Egress;
  web: Web;
  /** describes images when a session's own model cannot read them */
  visionModel?: string;
  /** what tools find in a sandbox; absent: unknown */
  sandboxFacts?: SandboxFacts;
  vaults: Vaults;
  appender: Appender;
  warmLogs: WarmLogs;
  budgets: Budgets;
  /** where the spans of turns go; absent: nowhere */
  traces?: TurnTraces | undefined;
  log: Logger;
  /** `runApprovalMs`: how long an approval waits in a run of an automation */
  limits: Omit<TurnDeps['limits'], 'approvalMs'> & { runApprovalMs: number };
};

/** `signal` stops the session at once; `drain` stops it before it starts more work. `worker`: who runs it. */
export type SessionSignals = { signal: AbortSignal; drain: AbortSignal; worker?: string };

/**
 * Does what a claimed session needs: expires pending actions, handles an interrupt, opens the next turn from the inbox,
 * runs the turn. The last write releases the lease. Returns whether the session is due again at once.
 */
export async function runSession(claimed: Claim, worker: WorkerDeps, signals: SessionSignals): Promise<boolean> {
  const deps = { ...worker, inference: limitSession(worker, claimed) };
  const { signal } = signals;
  let claim = claimed;
  const { log } = deps;
  const publish = (envelopes: EventEnvelope[]) => publishEvents(deps.bus, log, claim.organizationId, envelopes);
  if (claim.turn !== null && claim.status === 'waiting_on_human' && claim.interrupt === null) {
    const expired = await expireActions(claim, deps.db, publish);
    if (!expired.resumed) return expired.awake;
    // The log kept from the last run lacks what has just been written.
    claim = { ...claim, lastSequence: expired.lastSequence };
  }
  const journal = await openJournal(claim, { ...deps, publish });
  const turn = claim.turn === null ? await openNextTurn(claim, journal, deps) : readTurn(claim.turn, claim);
  if (turn === undefined) {
    journal.keep();
    if (claim.goal?.status !== 'active') return releaseIfIdle(deps.db, claim.sessionId, claim.epoch);
    return pursueGoal(claim, claim.goal, journal.events, { ...deps, log, publish, signal });
  }
  const hasReply = turn.steps > 0 || turn.step !== null;
  if (!hasReply && needsSandbox(journal.events, findToolConfigs(claim))) startSandbox(claim, { ...deps, log });
  const promptNotes = await readPromptNotes(claim, deps);
  const run = (trace: Trace | undefined) =>
    runTurn(turn, buildTurnDeps({ claim, promptNotes, journal, trace, log, ...signals }, deps));
  const end = await runTraced(
    turn,
    {
      sessionId: claim.sessionId,
      events: journal.events,
      isNew: !hasReply && (claim.turn === null || !claim.isTakenOver),
      worker: signals.worker,
    },
    deps,
    run,
  );
  if (end === 'waiting') return journal.awake;
  startTitle(claim, turn, journal, { ...deps, log, publish });
  return journal.awake;
}

/** Model calls within the budgets of the session and of all that it belongs to. */
function limitSession({ inference, budgets }: WorkerDeps, claim: Claim): Inference {
  const { organizationId, agentId, subjectId, sessionId, automationId } = claim;
  const spender = { organizationId, agentId, subjectId, sessionId, automationId: automationId ?? undefined };
  return limitCost(inference.forOrganization(organizationId), (estimateWorst) =>
    budgets.reserve(spender, estimateWorst),
  );
}

function readTurn(row: NonNullable<Claim['turn']>, claim: Claim): Turn {
  return {
    id: row.id,
    startedAt: row.startedAt,
    steps: row.steps,
    step: row.step,
    usage: row.usage ?? {},
    unwritten: [],
    unwrittenCalls: [],
    consumed: [],
    toolState: claim.toolState,
  };
}

/** Opens a turn with the oldest prompt of the inbox, or with guidance that arrived too late for the last turn. */
async function openNextTurn(claim: Claim, journal: SessionJournal, deps: WorkerDeps): Promise<Turn | undefined> {
  let [next] = await listInbox(deps.db, claim.sessionId, 1);
  if (next === undefined) {
    const late = findForgottenSteers(journal.events);
    if (late !== undefined && (await enqueueSteer(deps.db, claim.sessionId, late))) {
      [next] = await listInbox(deps.db, claim.sessionId, 1);
    }
  }
  if (next === undefined) return undefined;
  const turn = readTurn({ id: newId('trn'), steps: 0, step: null, usage: null, startedAt: new Date() }, claim);
  const prompt = journal.events.find((event) => event.id === next.prompt.eventId);
  await journal.append({
    events: [buildTurnStart({ turnId: turn.id }, next.prompt)],
    session: { status: 'running', liveTurn: turn.id, clearInterrupt: true },
    turn: { id: turn.id, state: 'running' },
    ...(prompt === undefined ? {} : { inbound: { sequences: [prompt.sequence], turnId: turn.id, status: 'received' } }),
    taken: [next.position],
  });
  return turn;
}

/** The tool configs of the session's role, or of the agent version. */
function findToolConfigs({ version, role }: Claim): Claim['version']['tools'] {
  return (version.roles.find(({ name }) => name === role) ?? version).tools;
}

/** The tools that can work in this session: no question without a person, no search without a backend. */
function listUsableTools({ automationId, version }: Claim, deps: WorkerDeps): ReadonlyMap<string, Tool> {
  const { tools, web, inference, visionModel } = deps;
  const canSee = visionModel !== undefined || inference.findModel(version.modelName)?.vision !== false;
  const missing = new Set([
    ...(automationId === null ? [] : ['clarify']),
    ...(web.canSearch ? [] : ['web_search']),
    ...(canSee ? [] : ['vision_analyze']),
  ]);
  return missing.size === 0 ? tools : new Map([...tools].filter(([name]) => !missing.has(name)));
}

type ClaimedSession = {
  claim: Claim;
  promptNotes: string[];
  journal: SessionJournal;
  trace: Trace | undefined;
  log: Logger;
} & SessionSignals;

function buildTurnDeps(
  { claim, promptNotes, journal, trace, log, signal, drain }: ClaimedSession,
  deps: WorkerDeps,
): TurnDeps {
  const { sessionId: id, organizationId, agentId, subjectId, version } = claim;
  const { modelName, systemPrompt } = version;
  const toolConfigs = findToolConfigs(claim);
  const sendLive: TurnDeps['sendLive'] = (frame, turnId) =>
    sendDelta(deps.bus, organizationId, {
      ...frame,
      sessionId: id,
      sequence: journal.lastSequence,
      turnId,
      processedAt: null,
      createdAt: new Date().toISOString(),
    });
  return {
    session: {
      id,
      organizationId,
      agentId,
      subjectId,
      modelName,
      systemPrompt,
      promptNotes,
      startedOn: dayOf(claim.createdAt.toISOString()),
      toolConfigs,
      effort: claim.reasoning?.effort ?? null,
    },
    journal,
    inference: deps.inference,
    ...omitUndefined({ visionModel: deps.visionModel }),
    tools: listUsableTools(claim, deps),
    mcp: buildMcpPort(claim, toolConfigs, deps),
    ports: buildToolPorts(claim, deps),
    attachments: buildAttachmentPort(id, deps.objects, {
      findModel: () => deps.inference.findModel(modelName),
      hasFiles: findToolsetPolicy(toolConfigs, 'file').enabled,
    }),
    readPermissions: () => readPermissions(deps.db, id),
    readPendingActions: (turnId) => listTurnActions(deps.db, id, turnId),
    openSandbox: (abort) => deps.sandboxes.acquire({ organizationId, agentId, subjectId, sessionId: id }, abort),
    mayHaveGoal: () => mayHaveGoal(claim, journal.events),
    sendLive,
    async reportWaiting(waiting, turnId) {
      await setWaiting(deps.db, claim, waiting);
      if (waiting === null) return;
      const payload = buildWaiting(waiting);
      sendLive({ id: newId('evt'), type: payload.type, status: null, payload }, turnId);
    },
    signal,
    drain,
    limits: { ...deps.limits, ...(claim.automationId === null ? {} : { approvalMs: deps.limits.runApprovalMs }) },
    trace,
    logError: (error, message, fields) => log.warn({ ...fields, error: errorText(error) }, message),
  };
}
