import type { DelegatedEnd, DelegatedTask, Delegation } from '../loop/subagents/delegation.ts';
import { readText } from './input.ts';
import { failTool } from './tool.ts';
import type { Tool, ToolContext, ToolOutcome } from './tool.ts';

const MAX_AT_ONCE = 3;
const MAX_TASKS = 12;

const TASK = {
  goal: { type: 'string', description: 'What the subagent is to do, complete in itself' },
  context: { type: 'string', description: 'What it has to know: paths, errors, decisions. It sees nothing else' },
  toolsets: {
    type: 'array',
    items: { type: 'string' },
    description: 'Toolsets and MCP servers that it may use; all of yours unless given',
  },
};

export const delegateTaskTool: Tool = {
  name: 'delegate_task',
  toolset: 'delegation',
  description:
    'Give work to a subagent: a fresh conversation with your tools and files that sees nothing of this one, works on ' +
    'its own, and comes back with a summary. For work whose details you do not need, or parts that go side by side. ' +
    `Give goal and context for one, or tasks for up to ${MAX_TASKS}, of which ${MAX_AT_ONCE} run at once. A subagent ` +
    'cannot ask anybody, so tools that wait for an approval are refused to it; nor can it delegate. It may err or leave ' +
    'things undone: check what matters.',
  parameters: {
    type: 'object',
    properties: {
      ...TASK,
      tasks: {
        type: 'array',
        minItems: 1,
        maxItems: MAX_TASKS,
        items: { type: 'object', properties: TASK, required: ['goal'] },
        description: 'Several tasks, instead of goal',
      },
    },
  },
  readOnly: false,
  parallelism: () => 'exclusive',
  async run(input, { delegation }: ToolContext) {
    if (delegation === undefined) return failTool('Work cannot be delegated here.');
    const tasks = readTasks(input);
    const fault = findFault(tasks, input, delegation);
    if (fault !== undefined) return failTool(fault);
    const started = performance.now();
    return buildAnswer(await runTasks(tasks, delegation), performance.now() - started);
  },
};

function readTasks(input: Record<string, unknown>): DelegatedTask[] {
  const given = Array.isArray(input['tasks']) ? (input['tasks'] as Record<string, unknown>[]) : [input];
  return given.map((task) => ({
    goal: readText(task, 'goal').trim(),
    context: readText(task, 'context').trim(),
    toolsets: Array.isArray(task['toolsets']) ? task['toolsets'].map(String) : null,
  }));
}

function findFault(
  tasks: DelegatedTask[],
  input: Record<string, unknown>,
  { toolsets }: Delegation,
): string | undefined {
  if (Array.isArray(input['tasks']) && readText(input, 'goal').trim() !== '') return 'Give goal or tasks, not both.';
  if (tasks.some(({ goal }) => goal === '')) return 'goal: is required';
  const unknown = tasks.flatMap((task) => task.toolsets ?? []).find((name) => !toolsets.includes(name));
  if (unknown === undefined) return undefined;
  return `toolsets: a subagent can have only these: ${toolsets.join(', ')}`;
}

/** In order, as many at once as may be. One that throws ends its lane; the others come to their own end first. */
async function runTasks(tasks: readonly DelegatedTask[], delegation: Delegation): Promise<DelegatedEnd[]> {
  const ends: DelegatedEnd[] = [];
  const waiting = [...tasks.entries()];
  const runLane = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      ends[next[0]] = await delegation.run(next[1]);
    }
  };
  const lanes = await Promise.allSettled(Array.from({ length: MAX_AT_ONCE }, runLane));
  for (const lane of lanes) if (lane.status === 'rejected') throw lane.reason;
  return ends;
}

function buildAnswer(ends: readonly DelegatedEnd[], durationMs: number): ToolOutcome {
  const results = ends.map((end, index) => ({
    task_index: index,
    thread_id: end.threadId,
    status: end.status,
    summary: end.summary,
    exit_reason: end.exitReason,
    api_calls: end.usage.calls ?? 0,
    duration_seconds: readSeconds(end.durationMs),
    tokens: { input: end.usage.input ?? 0, output: end.usage.output ?? 0 },
  }));
  const content = JSON.stringify({ results, total_duration_seconds: readSeconds(durationMs) });
  return { content, isError: ends.every(({ status }) => status === 'failed') };
}

function readSeconds(ms: number): number {
  return Math.round(ms / 10) / 100;
}
