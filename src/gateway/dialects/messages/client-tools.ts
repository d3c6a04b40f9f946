// Tests: test/gateway/helpers/anthropic.test.ts
import type { ModelTool } from '../../../inference/model.ts';

type ClientTool = Pick<ModelTool, 'description' | 'parameters'>;

const text = (description: string) => ({ type: 'string', description });
const line = (description: string) => ({ type: 'integer', description });
const VIEW_RANGE = {
  type: 'array',
  items: { type: 'integer' },
  minItems: 2,
  maxItems: 2,
  description: 'view: first and last line, from 1; -1 is the end of the file',
};

const EDITS = {
  path: text('absolute path of the file or directory'),
  file_text: text('create: the whole content of the file'),
  old_str: text('str_replace: the text to replace, which must occur exactly once'),
  new_str: text('str_replace: the new text'),
  insert_line: line('insert: the line after which to insert; 0 is the beginning of the file'),
  insert_text: text('insert: the text to insert'),
  view_range: VIEW_RANGE,
};

function buildEditor(description: string, commands: string[], more: Record<string, unknown> = {}): ClientTool {
  const command = { type: 'string', enum: commands };
  return {
    description,
    parameters: { type: 'object', properties: { command, ...EDITS, ...more }, required: ['command'] },
  };
}

/**
 * Tools that the format declares by type alone, because its models know them, although the client runs them. Other models
 * get a function with the same input. Keys: the type without its date.
 */
const CLIENT_TOOLS: Readonly<Record<string, ClientTool>> = {
  bash: {
    description: 'Runs a command in a persistent bash session. `restart: true` starts a new session.',
    parameters: {
      type: 'object',
      properties: { command: text('the command to run'), restart: { type: 'boolean' } },
    },
  },
  text_editor: buildEditor('Views, creates and edits files.', ['view', 'create', 'str_replace', 'insert']),
  memory: buildEditor(
    'Keeps notes in files below /memories that outlive this conversation. View /memories before anything else, and record ' +
      'progress there, because the conversation may be cut off at any time.',
    ['view', 'create', 'str_replace', 'insert', 'delete', 'rename'],
    { old_path: text('rename: the present path'), new_path: text('rename: the new path') },
  ),
};

/** Undefined: the tool is none of those that clients run. */
export function findClientTool(type: unknown): ClientTool | undefined {
  const [, name = ''] = (typeof type === 'string' ? /^([a-z_]{1,40})_\d{8}$/.exec(type) : undefined) ?? [];
  return Object.hasOwn(CLIENT_TOOLS, name) ? CLIENT_TOOLS[name] : undefined;
}
