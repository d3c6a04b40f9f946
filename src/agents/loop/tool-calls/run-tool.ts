import { trackWork } from '../../../platform/event-loop.ts';
import {
  SandboxError,
  SandboxFileError,
  SandboxRefusedError,
  SandboxUnreachedError,
} from '../../../sandbox/sandbox.ts';
import type { SandboxSession } from '../../../sandbox/sandbox.ts';
import type { ImagePart } from '../../../inference/model.ts';
import { newId } from '../../../platform/ids.ts';
import { runSpan, runWork } from '../../../platform/work-context.ts';
import { mcpSpanId, toolSpanId } from '../../log/trace-ids.ts';
import { buildToolOutput } from '../../log/build-events.ts';
import type { StepCall } from '../../log/event.ts';
import { describeImage } from '../../tools/describe-image.ts';
import { OUTCOME_UNKNOWN } from './decide.ts';
import { readAttachedText } from '../history/attachments.ts';
import { buildScriptCalls } from './script-calls.ts';
import { decideResultLimits, finishResult } from '../../tools/tool-result.ts';
import type { ResultBudget, ResultLimits } from '../../tools/tool-result.ts';
import { failTool } from '../../tools/tool.ts';
import type { ToolOutcome } from '../../tools/tool.ts';
import type { RunnableTool } from './runnable-tool.ts';
import type { ToolRunDeps, Turn } from '../turn/types.ts';

export type ToolRun = {
  content: string;
  isError: boolean;
  durationMs: number;
  images?: ImagePart[];
  stateChanged: boolean;
};

/** A call with its tool and its parsed input. `resume`: another worker has started it, and was lost. */
export type PreparedCall = { call: StepCall; tool: RunnableTool; input: Record<string, unknown>; resume?: true };

/** How large results may be for the session's model. */
export function findResultLimits({ session, inference }: ToolRunDeps): ResultLimits {
  return decideResultLimits(inference.findModel(session.modelName)?.contextWindow ?? Infinity);
}

/** Runs one tool. A failure becomes the result of this call only; an interrupt throws the signal's reason. */
export async function runTool(
  { call, tool, input, resume }: PreparedCall,
  capResult: ResultBudget,
  turn: Turn,
  deps: ToolRunDeps,
): Promise<ToolRun> {
  const { session, signal } = deps;
  const started = performance.now();
  let opened: Promise<SandboxSession> | undefined;
  let stateChanged = false;
  let openFailure: unknown;
  let hasRun = false;
  const open = async () => {
    try {
      return await deps.openSandbox(signal);
    } catch (error) {
      openFailure = error;
      throw error;
    }
  };
  const sandbox = () => (opened ??= open());
  const outer = {
    ...deps.ports,
    callId: call.useId,
    sessionId: session.id,
    organizationId: session.organizationId,
    agentId: session.agentId,
    subjectId: session.subjectId,
    sandbox,
    resultLimit: findResultLimits(deps).result,
    showOutput: (text: string) => {
      const payload = buildToolOutput(call.useId, text);
      deps.sendLive({ id: newId('evt'), type: payload.type, status: null, payload }, turn.id);
    },
    readAttachment: (name: string) =>
      readAttachedText(name, { log: deps.journal.events, turnId: turn.id }, deps.attachments, signal),
    signal,
    describeImage: (image: ImagePart, question: string) => describeImage(image, question, turn, deps),
    ...(deps.delegation === undefined ? {} : { delegation: deps.delegation(call.useId) }),
    state: {
      get: <T>(key: string) => turn.toolState[key] as T | undefined,
      set: (key: string, value: unknown) => {
        turn.toolState = { ...turn.toolState, [key]: value };
        stateChanged = true;
      },
    },
  };
  const context = { ...outer, scriptCalls: buildScriptCalls(outer, turn, deps) };
  let outcome: ToolOutcome;
  try {
    // The names of MCP and custom tools are the callers', and no labels of a metric.
    const work = async () => {
      const run = () => tool.run(input, context);
      const raw = resume ? await resumeCall(call, sandbox, run) : await run();
      hasRun = true;
      return capResult(await finishResult(tool.name, raw, context), context);
    };
    outcome = await trackCall({ call, tool }, deps, () => trackWork({ kind: 'tool', name: `tool ${tool.name}` }, work));
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (!(error instanceof SandboxError)) deps.logError(error, `tool ${tool.name} failed`);
    // What keeps a long result asks the sandbox once more, after the call.
    const isUnsent = !hasRun && (error === openFailure || error instanceof SandboxUnreachedError);
    outcome = failTool(resume ? OUTCOME_UNKNOWN : describeFailure(error, tool, isUnsent));
  }
  if (signal.aborted) throw signal.reason;
  const durationMs = performance.now() - started;
  return { ...outcome, durationMs, stateChanged };
}

/** Runs a call under its names in logs and traces. A server that it asks is told of the request's own span. */
function trackCall<T>({ call, tool }: Pick<PreparedCall, 'call' | 'tool'>, { trace }: ToolRunDeps, run: () => T): T {
  const spanId = 'target' in tool ? mcpSpanId(call.useId) : toolSpanId(call.useId);
  return runWork({ tool: tool.name }, () => runSpan(trace, spanId, run));
}

/** The outcome of a call that another worker started, from the sandbox that it runs in or has ended in. */
async function resumeCall(
  call: StepCall,
  sandbox: () => Promise<SandboxSession>,
  run: () => Promise<ToolOutcome>,
): Promise<ToolOutcome> {
  if (!(await isKnown(call, sandbox))) return failTool(OUTCOME_UNKNOWN);
  const outcome = await run();
  // The other worker may have cancelled it meanwhile: it stops what it began once it notices that its lease is lost.
  return (await isKnown(call, sandbox)) ? outcome : failTool(OUTCOME_UNKNOWN);
}

/** Whether the sandbox has the call that another worker started. One that took a dead one's place knows nothing of it. */
async function isKnown({ useId }: StepCall, sandbox: () => Promise<SandboxSession>): Promise<boolean> {
  try {
    return await (await sandbox()).hasCall(useId);
  } catch (error) {
    // An executor of an older release does not know the question.
    if (error instanceof SandboxError || error instanceof SandboxFileError) return false;
    throw error;
  }
}

/** A sandbox may have done the work before it died, so the model must check before it tries again. */
function describeFailure(error: unknown, tool: RunnableTool, isUnsent: boolean): string {
  const cause = error instanceof SandboxError ? error.message : 'the tool failed unexpectedly';
  if (tool.resumable === true && isUnsent) return `${cause}. The call was not started.`;
  const hasNotRun = tool.readOnly || error instanceof SandboxRefusedError;
  return hasNotRun ? cause : `${cause}. The outcome is unknown. Check before you repeat it.`;
}
