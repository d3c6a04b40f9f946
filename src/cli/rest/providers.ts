// Tests: test/cli/rest.test.ts
import type { Command } from 'commander';
import { omitUndefined } from '../../platform/records.ts';
import type { Environment } from '../connection.ts';
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
  awsRegion?: string;
  googleProject?: string;
  googleLocation?: string;
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
    about: 'check address and credentials now',
    method: 'POST',
    path: '/v1/providers/{provider}/test',
  },
  {
    use: 'providers delete <provider>',
    about: 'delete a provider with its credentials',
    method: 'DELETE',
    path: '/v1/providers/{provider}',
    confirm: 'Delete the provider {provider}?',
    done: 'Deleted {provider}',
  },
];

const KEY = 'CAPSTAN_PROVIDER_KEY';

/** The credentials of a new provider: for Vertex AI a service account, for Bedrock AWS keys unless there is an API key. */
function readCredentials(env: Environment, { key, awsRegion, googleProject, googleLocation }: Flags) {
  if (googleProject !== undefined) {
    const credentials = key ? readSecret(env, KEY) : undefined;
    return { google: omitUndefined({ project: googleProject, location: googleLocation, credentials }) };
  }
  const {
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    AWS_SESSION_TOKEN: sessionToken,
  } = env;
  const signs = awsRegion !== undefined && env[KEY] === undefined && accessKeyId !== undefined;
  const keys = signs ? omitUndefined({ accessKeyId, secretAccessKey, sessionToken }) : {};
  return omitUndefined({
    aws: awsRegion === undefined ? undefined : { region: awsRegion, ...keys },
    apiKey: key && !signs ? readSecret(env, KEY) : undefined,
  });
}

export const UPSTREAM_COMMANDS: readonly RestCommand[] = [
  {
    use: 'upstreams list',
    about: 'the providers of models that calls go to, and how they do',
    method: 'GET',
    path: '/v1/upstreams',
    columns: [
      ['NAME', 'name'],
      ['FORMAT', 'format'],
      ['FROM', 'source'],
      ['BREAKER', 'breaker'],
      ['LATENCY', 'latencyMs'],
      ['LAST ERROR', 'lastErrorCode'],
      ['AT', 'lastErrorAt'],
    ],
  },
];

export function addProviderCommand(providers: Command): void {
  providers
    .command('add <name>')
    .description(`add a provider of models; its key is read from ${KEY} or standard input`)
    .option('--preset <preset>', 'openai, anthropic, gemini, openrouter or another known one')
    .option('--format <format>', 'chat-completions, responses, messages, generate-content or converse')
    .option('--url <url>', 'address with the version segment')
    .option('--models <list>', 'ids, comma-separated; default: any')
    .option('--aws-region <region>', 'Bedrock; signed with AWS_ACCESS_KEY_ID and its companions, unless there is a key')
    .option('--google-project <id>', 'Vertex AI; the key is the JSON key of a service account')
    .option('--google-location <location>', 'of Vertex AI; default: global')
    .option('--no-key', 'the provider needs none')
    .option('--no-probe', 'save it without a call of the provider')
    .action(async (name: string, flags: Flags, command: Command) => {
      const context = buildContext(command);
      const { preset, format, url: baseUrl, probe } = flags;
      const credentials = readCredentials(context.env, flags);
      const models = flags.models?.split(',').map((id) => id.trim());
      const body = { name, probe, ...omitUndefined({ preset, format, baseUrl, models }), ...credentials };
      const response = await callServer(context.env, { method: 'POST', path: '/v1/providers', body });
      const made: unknown = await response.json();
      context.show(made, () => showAnswer(made));
    });
}
