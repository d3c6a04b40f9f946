import { DbUnavailableError } from '../../../platform/db/db.ts';
import type { NewEvent } from '../../log/event.ts';
import { newId } from '../../../platform/ids.ts';
import { buildResult, buildUse } from '../../log/write.ts';
import { tagNestedEvent } from '../../log/write-nested.ts';
import { decideCall } from './decide.ts';
import type { StepCall } from '../../log/event.ts';
import { findTool, listScriptTools } from './toolbox.ts';
import { readArguments } from '../../tools/arguments.ts';
import { SCRIPT_TOOLS } from '../../tools/execute-code/stubs.ts';
import type { ScriptCalls, ToolContext, ToolState } from '../../tools/tool.ts';
import { LeaseLostError } from '../turn/types.ts';
import type { Turn, TurnDeps } from '../turn/types.ts';

type InnerContext = Omit<ToolContext, 'scriptCalls'>;

/** Characters of each text of an inner call that are kept in the log: a script may move megabytes through its calls. */
const MAX_LOGGED = 2000;
const NEW_CALL = { hasResult: false, announced: false, waiting: false, approval: undefined };

/**
 * Calls that a script makes. Each is decided as a call of the model's, by what is allowed at that moment, but asks
 * nobody: what needs an approval that is not there yet is refused. Calls that only read run together, others alone. What
 * runs is in the session's log before it does, and its result after it, marked as the script's and cut.
 */
export function buildScriptCalls(context: InnerContext, turn: Turn, deps: TurnDeps): ScriptCalls {
  const { toolConfigs } = deps.session;
  const write = (event: NewEvent) => {
    const tagged = tagNestedEvent(event, turn.id, { parent_tool_use_id: context.callId });
    return deps.journal.append({ events: tagged === undefined ? [] : [tagged] });
  };
  const enter = openGate();
  return {
    names: listScriptTools(toolConfigs, deps.tools),
    run(name, args, callId, signal) {
      if (!SCRIPT_TOOLS.includes(name)) return refuse('Scripts cannot call a tool of this name.');
      const found = findTool(toolConfigs, deps.tools, name);
      if (found.kind !== 'builtin') return refuse(`The tool ${name} is not there.`);
      const { tool } = found;
      return enter(!tool.readOnly, async () => {
        signal.throwIfAborted();
        const call: StepCall = { useId: callId, index: 0, callId, name, arguments: JSON.stringify(args) };
        const permissions = await deps.readPermissions();
        const plan = decideCall(call, found, NEW_CALL, permissions, () =>
          readArguments(tool.parameters, call.arguments),
        );
        if (plan.kind === 'fail') return refuse(plan.message);
        if (plan.kind !== 'run')
          return refuse('This tool needs an approval for the session, which a script cannot ask for.');
        const place = { turnId: turn.id, step: 0, call: { ...call, useId: newId('evt') } };
        const { toolset, permission } = plan;
        await write(buildUse(place, { toolset, input: cutTexts(plan.input), permission }));
        const started = performance.now();
        const end = (content: string, isError: boolean) =>
          write(buildResult(place, { content: cut(content), isError, durationMs: performance.now() - started }));
        try {
          // what the model has seen and what a script has seen are two things
          const inner = { ...context, callId, signal, state: buildState(), scriptCalls: NO_CALLS };
          const { content, isError } = await plan.tool.run(plan.input, inner);
          await end(content, isError);
          return { content, ran: true };
        } catch (error) {
          // whoever takes over, or ends the turn, ends this too
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

function cut(text: string): string {
  if (text.length <= MAX_LOGGED) return text;
  const shown = text.slice(0, MAX_LOGGED).replace(/[\uD800-\uDBFF]$/, '');
  return `${shown}… (${text.length - shown.length} more characters)`;
}

function cutTexts(value: unknown): unknown {
  if (typeof value === 'string') return cut(value);
  if (Array.isArray(value)) return value.map(cutTexts);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, cutTexts(inner)]));
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

/** Lets work in, in the order of its coming: any number that share together, one that wants to be `alone` by itself. */
function openGate(): <T>(alone: boolean, work: () => Promise<T>) => Promise<T> {
  let lastAlone: Promise<unknown> = Promise.resolve();
  let sharing: Promise<unknown>[] = [];
  return (alone, work) => {
    const before = alone ? Promise.all([lastAlone, ...sharing]) : lastAlone;
    const done = before.then(work);
    const settled = done.catch(() => undefined);
    if (alone) {
      lastAlone = settled;
      sharing = [];
    } else {
      sharing.push(settled);
    }
    return done;
  };
}
