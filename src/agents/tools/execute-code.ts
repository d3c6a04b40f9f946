import type { ScriptResult } from '../../sandbox/sandbox.ts';
import { NO_PYTHON, SCRIPT_COMMAND } from './execute-code/command.ts';
import { buildStubFiles, describeStubs } from './execute-code/stubs.ts';
import { readText } from './input.ts';
import { failTool } from './tool.ts';
import type { Tool, ToolContext, ToolOutcome } from './tool.ts';

export type ScriptLimits = { timeoutMs: number; maxCalls: number };

const LIMITS: ScriptLimits = { timeoutMs: 300_000, maxCalls: 50 };
/** Requests beyond the allowed calls after which a script's requests are dropped. */
const SPARE_REQUESTS = 150;
/** A script's background commands would end with it, without a notice. */
const FOREGROUND_ONLY = ['background', 'pty', 'notify_on_complete', 'watch_patterns'];

export const executeCodeTool = buildExecuteCode(LIMITS);

/** Python in the session's sandbox, which calls the session's tools by functions. Only what it prints is read. */
export function buildExecuteCode(limits: ScriptLimits): Tool {
  return {
    name: 'execute_code',
    toolset: 'code_execution',
    description: describe([], limits),
    describe: (tools) => describe(tools, limits),
    parameters: {
      type: 'object',
      properties: { code: { type: 'string', description: 'The Python script; print what you want to read' } },
      required: ['code'],
    },
    readOnly: false,
    parallelism: () => 'exclusive',
    run: (input, context) => runCode(readText(input, 'code'), limits, context),
  };
}

function describe(tools: readonly string[], { timeoutMs, maxCalls }: ScriptLimits): string {
  const head =
    'Run a Python script in the sandbox, in the working directory of the terminal. You read what it prints and nothing ' +
    'else, so use it to work through much data, or where there is logic between calls; for one call use the tool itself.';
  const limit = `Limits: ${timeoutMs / 60_000} minutes, 50 KB of output`;
  if (tools.length === 0) return `${head} ${limit}.`;
  return (
    `${head}\n\nIt can call these tools (from capstan_tools import …), which return a dict, with "error" where a call ` +
    `failed or was refused; a tool that needs approval runs only once it is approved for the session:\n\n` +
    `${describeStubs(tools)}\n\nAlso there: json_parse(text), shell_quote(text), retry(fn, max_attempts=3, delay=2). ` +
    `${limit}, ${maxCalls} tool calls.`
  );
}

async function runCode(code: string, limits: ScriptLimits, context: ToolContext): Promise<ToolOutcome> {
  if (code.trim() === '') return failTool('code must not be empty.', { status: 'error' });
  const { scriptCalls } = context;
  const started = performance.now();
  let taken = 0;
  let made = 0;
  const answer = async (line: string, signal: AbortSignal): Promise<string> => {
    const call = readCall(line);
    if (call === undefined) return refuse('A call is one line of JSON: {"tool": "…", "args": {…}}.');
    taken += 1;
    if (taken > limits.maxCalls) return refuse(`A script may make ${limits.maxCalls} tool calls at most.`);
    const { content, ran } = await scriptCalls.run(call.tool, call.args, `${context.callId}.${taken}`, signal);
    if (ran) made += 1;
    return toLine(content);
  };
  const sandbox = await context.sandbox();
  const result = await sandbox.runScript(
    {
      callId: context.callId,
      command: SCRIPT_COMMAND,
      files: { ...buildStubFiles(scriptCalls.names), 'script.py': code },
      timeoutMs: limits.timeoutMs,
      maxRequests: limits.maxCalls + SPARE_REQUESTS,
      answer,
    },
    context.signal,
  );
  const end = describeEnd(result, limits, context.signal.aborted);
  const duration = Math.round((performance.now() - started) / 10) / 100;
  const { status, output, error } = end;
  const content = { status, output, tool_calls_made: made, duration_seconds: duration, error };
  return { content: JSON.stringify(content), isError: status !== 'success' };
}

type ScriptEnd = { status: 'success' | 'error' | 'timeout' | 'interrupted'; output: string; error?: string };

function describeEnd(result: ScriptResult, limits: ScriptLimits, interrupted: boolean): ScriptEnd {
  const { output, errors, exitCode } = result;
  if (interrupted) return { status: 'interrupted', output, error: 'The script was interrupted.' };
  if (exitCode === 0 && !result.timedOut) return { status: 'success', output };
  if (exitCode === 127 && errors.trim() === NO_PYTHON) return { status: 'error', output, error: NO_PYTHON };
  const all = errors === '' ? output : `${output}${/(^|\n)$/.test(output) ? '' : '\n'}--- stderr ---\n${errors}`;
  if (result.timedOut) {
    const error = `The script was stopped after ${limits.timeoutMs / 1000} s, the time that it may take.`;
    return { status: 'timeout', output: all, error };
  }
  return { status: 'error', output: all, error: `The script ended with exit code ${exitCode}.` };
}

/** Validates a script's request: only a tool name and an object of arguments are accepted. */
function readCall(line: string): { tool: string; args: Record<string, unknown> } | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const { tool, args } = value as { tool?: unknown; args?: unknown };
  if (typeof tool !== 'string' || typeof args !== 'object' || args === null || Array.isArray(args)) return undefined;
  const given = Object.entries(args).filter(([name]) => tool !== 'terminal' || !FOREGROUND_ONLY.includes(name));
  return { tool, args: Object.fromEntries(given) };
}

function refuse(error: string): string {
  return JSON.stringify({ error });
}

/** A result as one line of JSON: what it is, without a hint that follows it, or else its text. */
function toLine(content: string): string {
  for (const text of [content, content.split('\n\n[')[0] ?? '']) {
    try {
      return JSON.stringify(JSON.parse(text));
    } catch {
      // not JSON alone
    }
  }
  return JSON.stringify(content);
}
