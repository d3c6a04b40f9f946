import { writeCodexSettings } from '../../../test/real-clients/codex-settings.ts';
import { runClient } from '../../../test/real-clients/run-client.ts';
import { DEADLINE_MS, PROMPT, readText } from './client.ts';
import type { CodingClient } from './client.ts';

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
const WAIT = { yield_time_ms: 30_000 };

function buildPatch(path: string, from: string, to: string): string {
  const lines = (mark: string, text: string) => text.split('\n').map((line) => `${mark}${line}`);
  return [
    '*** Begin Patch',
    `*** Update File: ${path}`,
    '@@',
    ...lines('-', from),
    ...lines('+', to),
    '*** End Patch',
  ].join('\n');
}

/** It reads and writes files with commands, and has a tool for patches. */
export const CODEX: CodingClient = {
  name: 'codex',
  translate(name, input) {
    const path = readText(input['path']);
    const execute = (cmd: string, more: object = WAIT) => ({ name: 'exec_command', input: { cmd, ...more } });
    switch (name) {
      case 'terminal':
        return execute(readText(input['command']));
      case 'todo':
        return execute('true');
      case 'read_file': {
        const first = typeof input['offset'] === 'number' ? input['offset'] : 1;
        const last = typeof input['limit'] === 'number' ? first + input['limit'] - 1 : '$';
        const wait = typeof input['limit'] === 'string' ? { yield_time_ms: '30000' } : WAIT;
        return execute(`sed -n ${quote(`${first},${last}p`)} ${quote(path)}`, wait);
      }
      case 'write_file':
        if (input['content'] === undefined) return { name: 'exec_command', input: {} };
        return execute(`printf %s ${quote(readText(input['content']))} > ${quote(path)}`);
      case 'patch':
        return {
          name: 'apply_patch',
          input: { input: buildPatch(path, readText(input['old_string']), readText(input['new_string'])) },
        };
      case 'Terminal':
        return { name: 'Exec_command', input: { cmd: readText(input['command']) } };
      default:
        return { name, input };
    }
  },
  async run(gateway, task, model) {
    writeCodexSettings({ home: task.home, url: gateway.url, model, facts: 'with facts' });
    const { events } = await runClient(
      'clients/node_modules/@openai/codex/bin/codex.js',
      ['exec', '--json', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', '--', PROMPT],
      task,
      { environment: { CODEX_HOME: task.home, CAPSTAN_API_KEY: gateway.key }, deadlineMs: DEADLINE_MS },
    );
    const texts = events.flatMap(({ item }) => {
      const { type, text } = (item ?? {}) as { type?: string; text?: string };
      return type === 'agent_message' ? [text ?? ''] : [];
    });
    return texts.at(-1) ?? '';
  },
};
