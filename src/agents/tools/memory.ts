import { MEMORY_LIMITS, joinEntries, splitEntries } from '../contract/memory.ts';
import { readText } from './input.ts';
import { applyOperations } from './memory/apply.ts';
import type { MemoryOperation } from './memory/apply.ts';
import { describeUsage } from './memory/usage.ts';
import { answerTool, failTool } from './tool.ts';
import type { Tool, ToolContext, ToolOutcome } from './tool.ts';

/** Consecutive failed attempts to free space after which the model is told to stop. */
const MAX_FULL = 3;
const KEY = 'memory';
const MAX_OPERATIONS = 50;

const OPERATION = {
  action: { type: 'string', enum: ['add', 'replace', 'remove'] },
  content: { type: 'string', description: 'The entry, for add and replace' },
  old_text: { type: 'string', description: 'A part of the entry that only it holds, for replace and remove' },
};

export const memoryTool: Tool = {
  name: 'memory',
  toolset: 'memory',
  description:
    'Notes that outlast this conversation. target "user" holds who the user is and what they prefer; "memory" holds ' +
    'facts about their work, environment and lessons learned. Save what will matter again, briefly; nothing about the ' +
    'progress of a task. What you write appears in the prompts of later sessions, not of this one. operations does ' +
    'several changes at once, all or none.',
  parameters: {
    type: 'object',
    properties: {
      ...OPERATION,
      target: { type: 'string', enum: ['memory', 'user'] },
      operations: {
        type: 'array',
        maxItems: MAX_OPERATIONS,
        items: { type: 'object', properties: OPERATION, required: ['action'] },
      },
    },
    required: ['target'],
  },
  readOnly: false,
  parallelism: () => 'exclusive',
  run: changeMemory,
};

function readOperations(input: Record<string, unknown>): MemoryOperation[] {
  const given = Array.isArray(input['operations']) ? (input['operations'] as Record<string, unknown>[]) : [input];
  return given.map((item) => ({
    action: readText(item, 'action'),
    content: readText(item, 'content'),
    oldText: readText(item, 'old_text'),
  }));
}

async function changeMemory(input: Record<string, unknown>, context: ToolContext): Promise<ToolOutcome> {
  const target = readText(input, 'target') === 'user' ? 'user' : 'memory';
  const operations = readOperations(input);
  if (operations.length === 0) return failTool('operations must not be empty.', { success: false });
  const { applied, content } = await context.memory.change(target, (before) => {
    const result = applyOperations(splitEntries(before), operations, MEMORY_LIMITS[target]);
    const after = result.ok && result.changed ? joinEntries(result.entries) : null;
    return { content: after, answer: { applied: result, content: after ?? before } };
  });
  const usage = describeUsage(target, content);
  if (applied.ok) {
    if (context.state.get(KEY) !== undefined) context.state.set(KEY, { full: 0 });
    const message = applied.changed ? 'Saved.' : 'Nothing had to be changed.';
    // The entries are not repeated: models that see them are tempted to write them once more.
    return answerTool({ success: true, target, usage, entry_count: applied.entries.length, message });
  }
  const current = applied.entries ? { current_entries: splitEntries(content) } : {};
  if (!applied.full) return failTool(applied.error, { success: false, target, usage, ...current });
  const full = (context.state.get<{ full: number }>(KEY)?.full ?? 0) + 1;
  context.state.set(KEY, { full });
  if (full < MAX_FULL) return failTool(applied.error, { success: false, target, usage, ...current });
  const skip = `The memory is full and could not be made smaller ${full} times. Leave it and go on with the task.`;
  return failTool(skip, { success: false, skip: true, target, usage });
}
