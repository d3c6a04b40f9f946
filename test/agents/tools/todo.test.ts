import { expect, test } from 'vitest';
import { describeOpenTodos, mergeTodos, todoTool } from '../../../src/agents/tools/todo.ts';
import type { ToolContext } from '../../../src/agents/tools/tool.ts';
import { buildState } from '../../support/tools.ts';

test('the list is replaced, merged and read', async () => {
  const state = buildState();
  const call = async (input: Record<string, unknown>) =>
    JSON.parse((await todoTool.run(input, { state } as ToolContext)).content) as { todos: unknown; summary: unknown };
  await call({
    todos: [
      { id: '1', content: 'a', status: 'in_progress' },
      { id: '2', content: 'b' },
    ],
  });
  await call({
    todos: [
      { id: '1', status: 'completed' },
      { id: '3', content: 'c', status: 'nonsense' },
    ],
    merge: true,
  });
  const { todos, summary } = await call({});
  expect(todos).toEqual([
    { id: '1', content: 'a', status: 'completed' },
    { id: '2', content: 'b', status: 'pending' },
    { id: '3', content: 'c', status: 'pending' },
  ]);
  expect(summary).toEqual({ total: 3, pending: 2, in_progress: 0, completed: 1, cancelled: 0 });
  expect(describeOpenTodos(state)).toMatch(/\[ \] 2\. b\n- \[ \] 3\. c$/);
});

test('broken items are mended, the last of two wins, and there is an end', () => {
  expect(mergeTodos([], [{ id: 'x', content: 'old' }, { id: 'x', content: 'new' }, {}, 'text'])).toEqual([
    { id: 'x', content: 'new', status: 'pending' },
    { id: '?', content: 'text', status: 'pending' },
  ]);
  expect(mergeTodos([], [{ id: 'a', content: 'y'.repeat(5000) }])[0]?.content).toHaveLength(4000);
  expect(
    mergeTodos(
      [],
      Array.from({ length: 300 }, (_, id) => ({ id: String(id) })),
    ),
  ).toHaveLength(256);
});
