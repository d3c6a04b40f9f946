import type { ProcessInfo, SandboxSession } from '../../sandbox/sandbox.ts';
import { answerTool, failTool } from './tool.ts';
import { readNumber, readText } from './input.ts';
import type { Tool, ToolOutcome } from './tool.ts';

const ACTIONS = ['list', 'poll', 'log', 'wait', 'kill', 'write', 'submit', 'close'] as const;
type Action = (typeof ACTIONS)[number];

const MAX_WAIT = 180;
const DEFAULT_LINES = 200;

export const processTool: Tool = {
  name: 'process',
  toolset: 'terminal',
  description:
    'Follow background processes started by terminal(background=true): list, poll (status and latest output), log ' +
    '(lines of output), wait, kill, write (raw input), submit (input and Enter), close (end of input).',
  parameters: {
    type: 'object',
    properties: {
      action: { type: 'string', enum: ACTIONS },
      session_id: { type: 'string', description: 'The process, as terminal named it; for all but list' },
      data: { type: 'string', description: 'write, submit: what to type' },
      timeout: { type: 'integer', minimum: 1, description: `wait: seconds, at most ${MAX_WAIT}` },
      offset: { type: 'integer', minimum: 0, description: 'log: first line; 0 shows the last lines' },
      limit: { type: 'integer', minimum: 1, description: `log: lines, default ${DEFAULT_LINES}` },
    },
    required: ['action'],
  },
  readOnly: false,
  parallelism: () => 'exclusive',
  async run(input, context) {
    const sandbox = await context.sandbox();
    const action = readText(input, 'action') as Action;
    if (action === 'list') return listProcesses(sandbox);
    const id = input['session_id'];
    if (typeof id !== 'string' || id === '') return failTool(`session_id is required for ${action}.`);
    return act(action, input, { id, sandbox, signal: context.signal });
  },
};

async function listProcesses(sandbox: SandboxSession): Promise<ToolOutcome> {
  const processes = await sandbox.listProcesses();
  const rows = processes.map(async (info) => ({
    session_id: info.id,
    command: info.command.slice(0, 200),
    cwd: info.cwd,
    pid: info.pid,
    started_at: info.startedAt,
    uptime_seconds: Math.round(info.uptimeSeconds),
    status: info.status,
    output_preview: ((await sandbox.processOutput(info.id))?.output ?? '').slice(-200),
    ...(info.exitCode === null ? {} : { exit_code: info.exitCode }),
  }));
  return answerTool({ processes: await Promise.all(rows) });
}

type Target = { id: string; sandbox: SandboxSession; signal: AbortSignal };

async function act(
  action: Exclude<Action, 'list'>,
  input: Record<string, unknown>,
  target: Target,
): Promise<ToolOutcome> {
  if (action === 'wait') return wait(input, target);
  const { id, sandbox } = target;
  const found = await sandbox.processOutput(id);
  if (found === undefined) return notFound(id);
  const { info, output } = found;
  const data = typeof input['data'] === 'string' ? input['data'] : '';
  switch (action) {
    case 'poll':
      return answerTool({
        session_id: id,
        command: info.command,
        status: info.status,
        pid: info.pid,
        uptime_seconds: Math.round(info.uptimeSeconds),
        output_preview: output.slice(-1000),
        ...describeEnd(info),
      });
    case 'log':
      return answerTool({ session_id: id, status: info.status, ...pickLines(output, input) });
    case 'kill':
      return kill(info, target);
    case 'write':
    case 'submit':
      if (info.status === 'exited') return failTool('The process has ended already.', { status: 'already_exited' });
      return writeInput(action === 'submit' ? `${data}\n` : data, target);
    case 'close':
      return (await sandbox.closeProcessInput(id))
        ? answerTool({ status: 'ok', message: 'end of input sent' })
        : failTool('The input of the process is closed already.', { status: 'error' });
  }
}

async function kill(info: ProcessInfo, { id, sandbox }: Target): Promise<ToolOutcome> {
  if (info.status === 'exited')
    return answerTool({ status: 'already_exited', session_id: id, exit_code: info.exitCode });
  const killed = await sandbox.killProcess(id);
  return answerTool({ status: 'killed', session_id: id, exit_code: killed?.exitCode ?? -15 });
}

async function writeInput(text: string, { id, sandbox }: Target): Promise<ToolOutcome> {
  return (await sandbox.writeProcess(id, text))
    ? answerTool({ status: 'ok', bytes_written: Buffer.byteLength(text) })
    : failTool('The input of the process is closed.', { status: 'error' });
}

function notFound(id: string): ToolOutcome {
  return {
    content: JSON.stringify({ status: 'not_found', error: `No process with session_id ${id}` }),
    isError: true,
  };
}

async function wait(input: Record<string, unknown>, { id, sandbox, signal }: Target): Promise<ToolOutcome> {
  const asked = readNumber(input, 'timeout', MAX_WAIT);
  const seconds = Math.min(MAX_WAIT, asked);
  const info = await sandbox.waitProcess(id, seconds * 1000, signal);
  if (info === undefined) return notFound(id);
  const output = (await sandbox.processOutput(id))?.output ?? '';
  const note = asked > MAX_WAIT ? { timeout_note: `timeout was cut from ${asked} to ${MAX_WAIT} s` } : {};
  if (info.status === 'exited') {
    return answerTool({
      status: 'exited',
      session_id: id,
      exit_code: info.exitCode,
      output: output.slice(-2000),
      ...note,
    });
  }
  const status = signal.aborted ? 'interrupted' : 'timeout';
  return answerTool({ status, session_id: id, output: output.slice(-1000), ...note });
}

function describeEnd(info: ProcessInfo): Record<string, unknown> {
  return {
    ...(info.exitCode === null ? {} : { exit_code: info.exitCode }),
    ...(info.completionReason === null ? {} : { completion_reason: info.completionReason }),
    ...(info.completionReason === 'killed' ? { termination_source: 'process.kill' } : {}),
  };
}

function pickLines(
  output: string,
  input: Record<string, unknown>,
): { output: string; total_lines: number; showing: string } {
  const lines = output.replace(/\n$/, '').split('\n');
  const total = output === '' ? 0 : lines.length;
  const limit = Math.max(1, readNumber(input, 'limit', DEFAULT_LINES));
  const offset = readNumber(input, 'offset', 0);
  const from = offset === 0 ? Math.max(0, total - limit) : Math.min(offset, total);
  const to = Math.min(total, from + limit);
  return {
    output: lines.slice(from, to).join('\n'),
    total_lines: total,
    showing: to === from ? 'none' : `${from + 1}-${to}`,
  };
}
