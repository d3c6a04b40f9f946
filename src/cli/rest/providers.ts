// Tests: test/cli/rest.test.ts
import type { Command } from 'commander';
import { omitUndefined } from '../../platform/records.ts';
import { buildContext } from '../context.ts';
import { callServer } from './call.ts';
import type { RestCommand } from './command.ts';
import { readSecret } from './secret.ts';
import { showAnswer } from './show.ts';

type Flags = {
  preset?: string;
  format?: string;
  url?: string;
  models?: string;
  key: boolean;
  probe: boolean;
};

export const PROVIDER_COMMANDS: readonly RestCommand[] = [
  {
    use: 'providers list',
    about: 'the providers of models that the organization brings itself',
    method: 'GET',
    path: '/v1/providers',
    options: [{ flags: '--limit <n>', about: 'how many at most', to: 'query', field: 'limit' }],
    columns: [
      ['ID', 'id'],
      ['NAME', 'name'],
      ['FORMAT', 'format'],
      ['ADDRESS', 'baseUrl'],
      ['STATE', 'probe.status'],
    ],
  },
  {
    use: 'providers test <provider>',
    about: 'check address and key now',
    method: 'POST',
    path: '/v1/providers/{provider}/test',
  },
  {
    use: 'providers delete <provider>',
    about: 'delete a provider with its key',
    method: 'DELETE',
    path: '/v1/providers/{provider}',
    confirm: 'Delete the provider {provider}?',
    done: 'Deleted {provider}',
  },
];

export function addProviderCommand(providers: Command): void {
  providers
    .command('add <name>')
    .description('add a provider of models; its key is read from CAPSTAN_PROVIDER_KEY or standard input')
    .option('--preset <preset>', 'openai, anthropic, gemini, openrouter or another known one')
    .option('--format <format>', 'chat-completions, responses or messages')
    .option('--url <url>', 'address with the version segment')
    .option('--models <list>', 'ids, comma-separated; default: any')
    .option('--no-key', 'the provider needs none')
    .option('--no-probe', 'save it without a call of the provider')
    .action(async (name: string, flags: Flags, command: Command) => {
      const context = buildContext(command);
      const { preset, format, url: baseUrl, probe } = flags;
      const apiKey = flags.key ? readSecret(context.env, 'CAPSTAN_PROVIDER_KEY') : undefined;
      const models = flags.models?.split(',').map((id) => id.trim());
      const body = { name, probe, ...omitUndefined({ preset, format, baseUrl, apiKey, models }) };
      const response = await callServer(context.env, { method: 'POST', path: '/v1/providers', body });
      const made: unknown = await response.json();
      context.show(made, () => showAnswer(made));
    });
}
