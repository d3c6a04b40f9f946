import type { SandboxSession } from '../../sandbox/sandbox.ts';
import { SandboxFileError } from '../../sandbox/sandbox.ts';
import { omitUndefined } from '../../platform/records.ts';
import { explainExitCode } from './terminal/exit-codes.ts';
import { openLiveOutput } from './terminal/live-output.ts';
import { refuseForeground } from './terminal/refusals.ts';
import { answerTool } from './tool.ts';
import { readNumber, readText } from './input.ts';
import type { Tool, ToolContext, ToolOutcome } from './tool.ts';

const DEFAULT_TIMEOUT = 180;
const MAX_TIMEOUT = 600;
const SAFE_WORKDIR = /^[A-Za-z0-9_\-./~ +@=,:]+$/;
/** They read their input to its end, which a terminal never gives. */
const FILTERS = ['cat', 'wc', 'sort', 'uniq', 'tr', 'sed', 'awk', 'jq', 'base64', 'tee', 'xargs'];

/** Whether a command is one of those without arguments but options. */
function needsEof(command: string): boolean {
  const words = command.trim().split(/\s+/);
  const login = words.slice(0, 3).join(' ') === 'gh auth login' ? words.lastIndexOf('--with-token') : -1;
  if (login === -1 && !FILTERS.includes(words[0] ?? '')) return false;
  return words.slice(Math.max(1, login)).every((word) => word.length > 1 && word.startsWith('-'));
}

export const terminalTool: Tool = {
  name: 'terminal',
  toolset: 'terminal',
  description:
    'Run a bash command in the sandbox, in /workspace at first; the working directory and exported variables stay for ' +
    'the next command. Prefer read_file, write_file, patch and search_files for files. For servers, watchers and long ' +
    'work set background=true and follow them with the process tool; notify_on_complete tells you when one ends. Of output ' +
    'over 50,000 characters the middle is cut: write it to a file and read parts of that.',
  parameters: {
    type: 'object',
    properties: {
      command: { type: 'string', description: 'What bash runs' },
      background: { type: 'boolean', default: false },
      timeout: {
        type: 'integer',
        minimum: 1,
        description: `Seconds, default ${DEFAULT_TIMEOUT}, at most ${MAX_TIMEOUT} in the foreground`,
      },
      workdir: { type: 'string', description: 'Where to run it; default is where the last command ended' },
      pty: {
        type: 'boolean',
        default: false,
        description: 'Give a background command a terminal, for interactive programs',
      },
      notify_on_complete: { type: 'boolean', default: false, description: 'background: one message when it ends' },
      watch_patterns: {
        type: 'array',
        items: { type: 'string' },
        description: 'background: a message when a line holds one of these texts',
      },
    },
    required: ['command'],
  },
  readOnly: false,
  resumable: true,
  parallelism: () => 'exclusive',
  async run(input, context) {
    const command = readText(input, 'command');
    const workdir = typeof input['workdir'] === 'string' && input['workdir'] !== '' ? input['workdir'] : undefined;
    if (command.trim() === '') return refuse('command must not be empty.');
    if (workdir !== undefined && !SAFE_WORKDIR.test(workdir))
      return refuse('workdir holds characters that are not allowed.', 'blocked');
    const place = workdir === undefined ? {} : { workdir };
    try {
      return input['background'] === true
        ? await startInBackground(command, place, input, context)
        : await runInForeground(command, place, input, context);
    } catch (error) {
      if (error instanceof SandboxFileError) return refuse(error.message);
      throw error;
    }
  },
};

async function runInForeground(
  command: string,
  place: { workdir?: string },
  input: Record<string, unknown>,
  context: ToolContext,
): Promise<ToolOutcome> {
  const timeout = readNumber(input, 'timeout', DEFAULT_TIMEOUT);
  if (timeout > MAX_TIMEOUT)
    return refuse(`A foreground command may take ${MAX_TIMEOUT} s at most. Use background=true for longer ones.`);
  const refusal = refuseForeground(command);
  if (refusal !== undefined) return refuse(refusal);
  const sandbox = await context.sandbox();
  const result = await sandbox.run(
    { callId: context.callId, command, timeoutMs: timeout * 1000, ...place, ...watchOutput(context) },
    context.signal,
  );
  const meaning = result.timedOut ? undefined : explainExitCode(command, result.exitCode);
  return {
    content: JSON.stringify({
      output: result.output,
      exit_code: result.exitCode,
      error: result.timedOut ? `Command timed out after ${timeout} s` : null,
      ...omitUndefined({ exit_code_meaning: meaning }),
    }),
    // a command that failed is an answer, not a failed tool
    isError: result.timedOut,
  };
}

function watchOutput({ showOutput }: ToolContext): { onOutput?: (text: string) => void } {
  return showOutput === undefined ? {} : { onOutput: openLiveOutput(showOutput) };
}

async function startInBackground(
  command: string,
  place: { workdir?: string },
  input: Record<string, unknown>,
  context: ToolContext,
): Promise<ToolOutcome> {
  const notifyOnComplete = input['notify_on_complete'] === true;
  const watchPatterns = Array.isArray(input['watch_patterns']) ? input['watch_patterns'].map(String) : [];
  const pty = input['pty'] === true && !needsEof(command);
  const sandbox: SandboxSession = await context.sandbox();
  const process = await sandbox.startProcess({
    callId: context.callId,
    command,
    pty,
    notifyOnComplete,
    watchPatterns,
    ...place,
  });
  const dropped = notifyOnComplete && watchPatterns.length > 0;
  return answerTool({
    output: 'Background process started',
    session_id: process.id,
    pid: process.pid,
    exit_code: 0,
    error: null,
    ...(notifyOnComplete ? { notify_on_complete: true } : {}),
    ...(watchPatterns.length > 0 && !dropped ? { watch_patterns: watchPatterns } : {}),
    ...(dropped ? { hint: 'watch_patterns were dropped: with notify_on_complete the end is announced anyway.' } : {}),
    ...(notifyOnComplete || watchPatterns.length > 0
      ? {}
      : { hint: 'Follow it with the process tool; nothing is announced by itself.' }),
  });
}

function refuse(error: string, status: 'error' | 'blocked' = 'error'): ToolOutcome {
  return { content: JSON.stringify({ output: '', exit_code: -1, error, status }), isError: true };
}
