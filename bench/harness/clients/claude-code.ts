import { join } from 'node:path';
import { buildClaudeEnvironment } from '../../../test/real-clients/claude-code-settings.ts';
import { runClient } from '../../../test/real-clients/run-client.ts';
import { DEADLINE_MS, PROMPT, readText, rename } from './client.ts';
import type { CodingClient } from './client.ts';

/** Its tools for files take absolute paths. */
export const CLAUDE_CODE: CodingClient = {
  name: 'claude-code',
  translate(name, input, task) {
    const file = { file_path: join(task.folder, readText(input['path'])) };
    const path = readText(input['path']).startsWith('/') ? { file_path: input['path'] } : file;
    switch (name) {
      case 'terminal':
        return { name: 'Bash', input: { command: readText(input['command']), description: 'Run a command' } };
      case 'todo':
        return { name: 'Bash', input: { command: 'true', description: 'Do nothing' } };
      case 'read_file':
        return { name: 'Read', input: { ...path, ...rename(input, { offset: 'offset', limit: 'limit' }) } };
      case 'write_file':
        return { name: 'Write', input: { ...path, ...rename(input, { content: 'content' }) } };
      case 'patch':
        return {
          name: 'Edit',
          input: { ...path, ...rename(input, { old_string: 'old_string', new_string: 'new_string' }) },
        };
      case 'Terminal':
        return { name: 'bash', input: { command: readText(input['command']), description: 'List' } };
      default:
        return { name, input };
    }
  },
  async run(gateway, task, model) {
    const { events } = await runClient(
      'clients/node_modules/@anthropic-ai/claude-code/cli-wrapper.cjs',
      ['--print', PROMPT, '--output-format=stream-json', '--verbose', '--dangerously-skip-permissions'],
      task,
      { environment: buildClaudeEnvironment(gateway, model), deadlineMs: DEADLINE_MS },
    );
    const result = events.findLast(({ type }) => type === 'result');
    if (result === undefined || result['is_error'] === true)
      throw new Error(`an error: ${readText(result?.['result'])}`);
    return readText(result['result']);
  },
};
