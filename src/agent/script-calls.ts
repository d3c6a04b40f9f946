import { decideCall } from './decide.ts';
import type { StepCall } from './log.ts';
import { findTool, listScriptTools } from './toolbox.ts';
import { readArguments } from './tools/arguments.ts';
import { SCRIPT_TOOLS } from './tools/execute-code/stubs.ts';
import type { ScriptCalls, ToolContext, ToolState } from './tools/tool.ts';
import type { TurnDeps } from './turn-types.ts';

type InnerContext = Omit<ToolContext, 'scriptCalls'>;

/** Nothing of it is in the log: the use of the script is, and stands for all that it does. */
const NEW_CALL = { hasResult: false, announced: false, waiting: false, approval: undefined };

/**
 * Calls that a script makes. Each is decided as a call of the model's, by what is allowed at that moment, but asks
 * nobody: what needs an approval that is not there yet is refused. Calls that only read run together, others alone.
 */
export function buildScriptCalls(context: InnerContext, deps: TurnDeps): ScriptCalls {
  const { toolConfigs } = deps.session;
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
        try {
          // what the model has seen and what a script has seen are two things
          const inner = { ...context, callId, signal, state: buildState(), scriptCalls: NO_CALLS };
          const { content } = await plan.tool.run(plan.input, inner);
          return { content, ran: true };
        } catch (error) {
          if (signal.aborted) throw signal.reason;
          deps.report(error, `tool ${name} failed in a script`);
          const content = JSON.stringify({ error: 'The tool failed unexpectedly. Its outcome is unknown.' });
          return { content, ran: true };
        }
      });
    },
  };
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
