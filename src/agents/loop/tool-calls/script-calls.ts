import { DbUnavailableError } from '../../../platform/db/db.ts';
import type { NewEvent } from '../../log/event.ts';
import { newId } from '../../../platform/ids.ts';
import { buildResult, buildUse } from '../../log/build-events.ts';
import { tagNestedEvent } from '../../log/build-nested-events.ts';
import { decideCall } from './decide.ts';
import type { StepCall } from '../../log/event.ts';
import { findTool, listScriptTools } from './toolbox.ts';
import { readArguments } from '../../tools/arguments.ts';
import { SCRIPT_TOOLS } from '../../tools/execute-code/stubs.ts';
import type { ScriptCalls, ToolContext, ToolState } from '../../tools/tool.ts';
import { LeaseLostError } from '../turn/types.ts';
import type { ToolRunDeps, Turn } from '../turn/types.ts';

type ParentContext = Omit<ToolContext, 'scriptCalls'>;

/** Characters of each text of a nested call that the log stores: a script may move megabytes through its calls. */
const MAX_LOGGED = 2000;
const NEW_CALL = { hasResult: false, announced: false, waiting: false, approval: undefined };

/**
 * Calls that a script makes. Each is decided like a call of the model, with the permissions of that moment, but a call
 * that needs a new approval is refused. Read-only calls run in parallel, others alone. Each use is in the session's log
 * before the tool runs and its result after it, tagged with the script's call and truncated.
 */
export function buildScriptCalls(context: ParentContext, turn: Turn, deps: ToolRunDeps): ScriptCalls {
  const { toolConfigs } = deps.session;
  const write = (event: NewEvent) => {
    const tagged = tagNestedEvent(event, turn.id, { parent_tool_use_id: context.callId });
    return deps.journal.append({ events: tagged === undefined ? [] : [tagged] });
  };
  const schedule = buildScheduler();
  return {
    names: listScriptTools(toolConfigs, deps.tools),
    run(name, args, callId, signal) {
      if (!SCRIPT_TOOLS.includes(name)) return refuse('Scripts cannot call a tool of this name.');
      const found = findTool(toolConfigs, deps.tools, name);
      if (found.kind !== 'builtin') return refuse(`The tool ${name} is not there.`);
      const { tool } = found;
      return schedule(!tool.readOnly, async () => {
        signal.throwIfAborted();
        const call: StepCall = { useId: callId, index: 0, callId, name, arguments: JSON.stringify(args) };
        const permissions = await deps.readPermissions();
        const readInput = () => readArguments(tool.parameters, call.arguments);
        const plan = decideCall(call, { found, facts: NEW_CALL, permissions, readInput });
        if (plan.kind === 'fail') return refuse(plan.message);
        if (plan.kind !== 'run')
          return refuse('This tool needs an approval for the session, which a script cannot ask for.');
        const place = { turnId: turn.id, step: 0, call: { ...call, useId: newId('evt') } };
        const { toolset, permission } = plan;
        await write(buildUse(place, { toolset, input: truncateTexts(plan.input), permission }));
        const started = performance.now();
        const end = (content: string, isError: boolean) =>
          write(buildResult(place, { content: truncate(content), isError, durationMs: performance.now() - started }));
        try {
          // A script has its own tool state: what it has read, the model has not.
          const nested = { ...context, callId, signal, state: buildState(), scriptCalls: NO_CALLS };
          const { content, isError } = await plan.tool.run(plan.input, nested);
          await end(content, isError);
          return { content, ran: true };
        } catch (error) {
          // The worker that takes over or ends the turn also ends this call.
          if (deps.signal.aborted) throw deps.signal.reason;
          if (error instanceof LeaseLostError || error instanceof DbUnavailableError) throw error;
          if (signal.aborted) {
            await end(JSON.stringify({ error: 'The script ended before this call. The outcome is unknown.' }), true);
            throw signal.reason;
          }
          deps.logError(error, `tool ${name} failed in a script`);
          const content = JSON.stringify({ error: 'The tool failed unexpectedly. Its outcome is unknown.' });
          await end(content, true);
          return { content, ran: true };
        }
      });
    },
  };
}

function truncate(text: string): string {
  if (text.length <= MAX_LOGGED) return text;
  const shown = text.slice(0, MAX_LOGGED).replace(/[\uD800-\uDBFF]$/, '');
  return `${shown}… (${text.length - shown.length} more characters)`;
}

function truncateTexts(value: unknown): unknown {
  if (typeof value === 'string') return truncate(value);
  if (Array.isArray(value)) return value.map(truncateTexts);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, truncateTexts(inner)]));
}

const NO_CALLS: ScriptCalls = { names: [], run: () => refuse('Scripts do not start scripts.') };

function refuse(error: string): ReturnType<ScriptCalls['run']> {
  return Promise.resolve({ content: JSON.stringify({ error }), ran: false });
}

function buildState(): ToolState {
  const values = new Map<string, unknown>();
  return {
    get: <T>(key: string) => values.get(key) as T | undefined,
    set: (key, value) => void values.set(key, value),
  };
}

/** Runs work in the order of arrival: shared work in parallel, exclusive work by itself. */
function buildScheduler(): <T>(exclusive: boolean, work: () => Promise<T>) => Promise<T> {
  let lastExclusive: Promise<unknown> = Promise.resolve();
  let sharing: Promise<unknown>[] = [];
  return (exclusive, work) => {
    const before = exclusive ? Promise.all([lastExclusive, ...sharing]) : lastExclusive;
    const done = before.then(work);
    const settled = done.catch(() => undefined);
    if (exclusive) {
      lastExclusive = settled;
      sharing = [];
    } else {
      sharing.push(settled);
    }
    return done;
  };
}
