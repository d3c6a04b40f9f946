import { describe, expect, it } from 'vitest';
import { buildBatches, decideCall } from '../../../../src/agents/loop/tool-calls/decide.ts';
import type { CallFacts, CallPlan } from '../../../../src/agents/loop/tool-calls/decide.ts';
import type { StepCall } from '../../../../src/agents/log/event.ts';
import type { ToolPolicy } from '../../../../src/agents/loop/tool-calls/policy.ts';
import type { FoundTool } from '../../../../src/agents/loop/tool-calls/toolbox.ts';
import { readArguments } from '../../../../src/agents/tools/arguments.ts';
import { clarifyTool } from '../../../../src/agents/tools/clarify.ts';
import { readFileTool } from '../../../../src/agents/tools/read-file.ts';
import { terminalTool } from '../../../../src/agents/tools/terminal.ts';
import { todoTool } from '../../../../src/agents/tools/todo.ts';
import { writeFileTool } from '../../../../src/agents/tools/write-file.ts';
import type { Parallelism, Tool } from '../../../../src/agents/tools/tool.ts';

const asking: ToolPolicy = { enabled: true, policy: 'always_ask' };
const allowed: ToolPolicy = { enabled: true, policy: 'always_allow' };
const denied: ToolPolicy = { enabled: true, policy: 'always_deny' };

const builtin = (tool: Tool, policy: ToolPolicy): FoundTool => ({
  kind: 'builtin',
  tool,
  policy,
  approvalKey: tool.name,
});
const custom = (policy: ToolPolicy): FoundTool => ({
  kind: 'custom',
  name: 'lookup',
  schema: {},
  policy,
  approvalKey: 'lookup',
});

const INPUTS: Record<string, string> = {
  terminal: '{"command":"ls"}',
  read_file: '{"path":"a"}',
  clarify: '{"question":"Why?"}',
};

function decide(
  found: FoundTool,
  facts: Partial<CallFacts> = {},
  session: { yoloMode?: boolean; approved?: string[] } = {},
  args?: string,
): CallPlan {
  const name = found.kind === 'builtin' ? found.tool.name : 'lookup';
  const call: StepCall = { useId: 'evt_1', index: 0, callId: 'c1', name, arguments: args ?? INPUTS[name] ?? '{}' };
  return decideCall(call, {
    found,
    facts: { hasResult: false, announced: false, waiting: false, approval: undefined, ...facts },
    permissions: { yoloMode: session.yoloMode ?? false, approved: new Set(session.approved) },
    readInput: (tool) =>
      readArguments(tool.kind === 'builtin' ? tool.tool.parameters : { type: 'object' }, call.arguments),
  });
}

describe('a call', () => {
  it.each<[string, CallPlan, object]>([
    ['with its result is done', decide(builtin(terminalTool, denied), { hasResult: true }), { kind: 'done' }],
    ['whose ask is open waits', decide(builtin(terminalTool, allowed), { waiting: true }), { kind: 'wait' }],
    [
      'that is allowed runs',
      decide(builtin(terminalTool, allowed)),
      { kind: 'run', permission: 'allow', announced: false, input: { command: 'ls' } },
    ],
    [
      'that asks is asked for',
      decide(builtin(terminalTool, asking)),
      { kind: 'approve', of: 'builtin', toolset: 'terminal', approvalKey: 'terminal', input: { command: 'ls' } },
    ],
    [
      'that was allowed by its approval runs',
      decide(builtin(terminalTool, asking), { approval: 'allow' }),
      { kind: 'run', permission: 'ask' },
    ],
    [
      'that is approved for good runs',
      decide(builtin(terminalTool, asking), {}, { approved: ['terminal'] }),
      { kind: 'run', permission: 'ask' },
    ],
    [
      'of another tool than the approved one is asked for',
      decide(builtin(terminalTool, asking), {}, { approved: ['process'] }),
      { kind: 'approve' },
    ],
    [
      'in yolo mode runs',
      decide(builtin(terminalTool, asking), {}, { yoloMode: true }),
      { kind: 'run', permission: 'ask' },
    ],
    [
      'that was denied fails, also in yolo mode',
      decide(builtin(terminalTool, asking), { approval: 'deny' }, { yoloMode: true, approved: ['terminal'] }),
      { kind: 'fail', permission: 'deny', toolset: 'terminal', message: 'The user denied this call.' },
    ],
    [
      'that was denied with a reason fails with it',
      decide(builtin(terminalTool, asking), { approval: 'deny', denial: 'Ask Bo.' }),
      { kind: 'fail', message: 'The user denied this call: Ask Bo.' },
    ],
    [
      'of a denied tool fails, whatever was approved',
      decide(builtin(terminalTool, denied), { approval: 'allow' }, { yoloMode: true, approved: ['terminal'] }),
      { kind: 'fail', permission: 'deny', message: 'This tool is not permitted here.' },
    ],
    [
      'of no known tool fails',
      decide({ kind: 'unknown', similar: [] }),
      { kind: 'fail', permission: 'deny', toolset: null },
    ],
    [
      'with arguments that are no JSON fails without asking',
      decide(builtin(terminalTool, asking), {}, {}, '{"command'),
      { kind: 'fail', permission: 'ask', input: { raw: '{"command' }, announced: false },
    ],
    [
      'of a denied tool with bad arguments is told of the denial only',
      decide(builtin(terminalTool, denied), {}, {}, '{}'),
      { kind: 'fail', message: 'This tool is not permitted here.' },
    ],
    [
      'that may have changed something before a crash does not run again',
      decide(builtin(writeFileTool, allowed), { announced: true }, {}, '{"path":"a","content":"b"}'),
      { kind: 'fail', announced: true, message: expect.stringContaining('outcome is unknown') },
    ],
    [
      'whose outcome the sandbox may have is asked for after a crash, whatever is allowed by now',
      decide(builtin(terminalTool, denied), { announced: true }),
      { kind: 'run', announced: true, resume: true },
    ],
    [
      'that changes nothing runs again after a crash',
      decide(builtin(readFileTool, allowed), { announced: true }),
      { kind: 'run', announced: true },
    ],
    ['of a custom tool is asked for', decide(custom(asking)), { kind: 'approve', of: 'custom', toolset: null }],
    [
      'of a custom tool that is allowed goes to the application',
      decide(custom(allowed)),
      { kind: 'custom', input: {} },
    ],
    [
      'of a custom tool that was denied fails',
      decide(custom(asking), { approval: 'deny' }),
      { kind: 'fail', toolset: null, permission: 'deny' },
    ],
    ['of todo does not ask', decide(builtin(todoTool, asking)), { kind: 'run', permission: 'allow' }],
    [
      'of clarify asks the question, not for a permission',
      decide(builtin(clarifyTool, asking)),
      { kind: 'clarify', input: { question: 'Why?' } },
    ],
    ['of a denied clarify fails', decide(builtin(clarifyTool, denied)), { kind: 'fail', permission: 'deny' }],
  ])('%s', (_name, plan, expected) => {
    expect(plan).toMatchObject(expected);
  });
});

describe('batches', () => {
  const paths = (...list: string[]): Parallelism => ({ paths: list });

  it.each<{ what: string; modes: Parallelism[]; batches: number[][] }>([
    { what: 'of nothing', modes: [], batches: [] },
    { what: 'of shared calls', modes: ['shared', 'shared', 'shared'], batches: [[0, 1, 2]] },
    { what: 'of exclusive calls', modes: ['exclusive', 'exclusive'], batches: [[0], [1]] },
    {
      what: 'around an exclusive call',
      modes: ['shared', 'exclusive', 'shared', 'shared'],
      batches: [[0], [1], [2, 3]],
    },
    { what: 'of different paths', modes: [paths('a'), paths('b', 'c'), paths('d')], batches: [[0, 1, 2]] },
    {
      what: 'of the same path',
      modes: [paths('a'), paths('b'), paths('c', 'a'), paths('b')],
      batches: [
        [0, 1],
        [2, 3],
      ],
    },
    { what: 'of reading and writing', modes: ['shared', paths('a'), 'shared'], batches: [[0], [1], [2]] },
    { what: 'of unknown paths', modes: [paths(), paths('a')], batches: [[0, 1]] },
  ])('$what', ({ modes, batches }) => {
    const runnable = modes.map((mode, index) => {
      const tool: Tool = { ...readFileTool, parallelism: () => mode };
      const call: StepCall = { useId: `evt_${index}`, index, callId: '', name: tool.name, arguments: '{}' };
      return {
        call,
        plan: { kind: 'run' as const, tool, toolset: null, input: {}, permission: 'allow' as const, announced: false },
      };
    });
    expect(buildBatches(runnable).map((batch) => batch.map(({ call }) => call.index))).toEqual(batches);
  });
});
