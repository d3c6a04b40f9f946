import { answerTool } from './tool.ts';
import type { Tool, ToolState } from './tool.ts';

const STATUSES = ['pending', 'in_progress', 'completed', 'cancelled'] as const;
type Status = (typeof STATUSES)[number];
export type Todo = { id: string; content: string; status: Status };

const MAX_ITEMS = 256;
const MAX_CONTENT = 4000;
const KEY = 'todo';

export const todoTool: Tool = {
  name: 'todo',
  toolset: 'todo',
  description:
    'The task list of this session. Without todos it is read; with todos it is replaced, or with merge=true changed by ' +
    'id. Use it for work of three steps or more; keep one item in_progress at a time.',
  parameters: {
    type: 'object',
    properties: {
      todos: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            id: { type: 'string' },
            content: { type: 'string' },
            status: { type: 'string', description: STATUSES.join(', ') },
          },
        },
      },
      merge: { type: 'boolean', default: false },
    },
  },
  readOnly: false,
  parallelism: () => 'exclusive',
  run(input, context) {
    const current = readTodos(context.state);
    const given = input['todos'];
    const todos = Array.isArray(given) ? mergeTodos(input['merge'] === true ? current : [], given) : current;
    if (todos !== current) context.state.set(KEY, todos);
    return Promise.resolve(answerTool({ todos, summary: summarize(todos) }));
  },
};

export function readTodos(state: ToolState): Todo[] {
  return state.get<Todo[]>(KEY) ?? [];
}

type TodoInput = { id?: unknown; content?: unknown; status?: unknown };

function textOf(value: unknown): string {
  return typeof value === 'string' ? value.trim() : typeof value === 'number' ? String(value) : '';
}

/** Items of a known id change by the fields that are given, others are added. The last of two with one id wins. */
export function mergeTodos(current: Todo[], given: unknown[]): Todo[] {
  const todos = new Map(current.map((todo) => [todo.id, todo]));
  for (const item of given) {
    const { id, content, status } = (typeof item === 'object' && item !== null ? item : { content: item }) as TodoInput;
    const key = textOf(id) || '?';
    const old = todos.get(key);
    const text = textOf(content).slice(0, MAX_CONTENT);
    todos.set(key, {
      id: key,
      content: text || (old?.content ?? '(no description)'),
      status: STATUSES.find((known) => known === textOf(status)) ?? old?.status ?? 'pending',
    });
  }
  return [...todos.values()].slice(0, MAX_ITEMS);
}

function summarize(todos: Todo[]): Record<string, number> {
  const counts = STATUSES.map((status) => [status, todos.filter((todo) => todo.status === status).length] as const);
  return { total: todos.length, ...Object.fromEntries(counts) };
}

/** What is still to do, for the model after compaction; undefined when there is nothing. */
export function describeOpenTodos(state: ToolState): string | undefined {
  const open = readTodos(state).filter(({ status }) => status === 'pending' || status === 'in_progress');
  if (open.length === 0) return undefined;
  const lines = open.map(
    ({ id, content, status }) => `- ${status === 'in_progress' ? '[>]' : '[ ]'} ${id}. ${content}`,
  );
  return `[Your task list was kept across the compaction of this conversation:]\n${lines.join('\n')}`;
}
