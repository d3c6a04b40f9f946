import type { Command } from 'commander';
import type { ApiKey, ApiKeyCreated } from '../platform/contract/keys.ts';
import { ApiKeyCreate, DEFAULT_SCOPES, SCOPES } from '../platform/contract/keys.ts';
import { describeIssues } from '../platform/contract/validation.ts';
import { buildContext, readInteger } from './context.ts';
import type { Context } from './context.ts';
import { CliError } from './cli-error.ts';
import { buildTable, paint, showTime } from './text.ts';

export type KeyService = {
  create(key: ApiKeyCreate & { organization: string }): Promise<ApiKeyCreated>;
  list(): Promise<{ data: ApiKey[] }>;
  revoke(id: string): Promise<void>;
};

/** The server, or its database where that is named and no key is at hand: somebody has to make the first one. */
async function withKeys<T>(context: Context, use: (keys: KeyService) => Promise<T>): Promise<T> {
  const { env } = context;
  const url = env['DATABASE_URL'];
  if (url !== undefined && url !== '' && !env['CAPSTAN_API_KEY']) {
    const { withStoredKeys } = await import('./stored-keys.ts');
    return await withStoredKeys(url, use);
  }
  const { client } = context;
  return await use({
    create: (body) => client.createApiKey(body),
    list: () => client.listApiKeys({ limit: 100 }),
    revoke: async (keyId) => void (await client.revokeApiKey(keyId)),
  });
}

type CreateFlags = {
  org: string;
  name?: string;
  scopes?: string;
  limit?: string;
  models?: string;
  expires?: string;
};

const splitList = (text: string) => text.split(',').map((item) => item.trim());

function describeStatus({ revokedAt, expiresAt }: ApiKey): string {
  if (revokedAt !== null) return `revoked ${showTime(revokedAt)}`;
  if (expiresAt === null) return 'active';
  return `${Date.parse(expiresAt) <= Date.now() ? 'expired' : 'active until'} ${showTime(expiresAt)}`;
}

export function addKeyCommands(program: Command): void {
  const keys = program.command('keys').description('who may call the API');

  keys
    .command('create')
    .description('make a key; a new organization is created by its name')
    .requiredOption('--org <name>', 'organization')
    .option('--name <name>', 'what the key is for')
    .option('--scopes <list>', `comma-separated: ${SCOPES.join(', ')}; default: ${DEFAULT_SCOPES.join(', ')}`)
    .option('--limit <n>', 'requests per minute')
    .option('--models <list>', 'models of the gateway that the key may use, comma-separated, with *; default: all')
    .option('--expires <time>', 'when the key ends, such as 2027-01-31T00:00:00Z; default: never')
    .action(async (flags: CreateFlags, command: Command) => {
      const context = buildContext(command);
      const parsed = ApiKeyCreate.required({ organization: true }).safeParse({
        name: flags.name ?? flags.org,
        organization: flags.org,
        ...(flags.scopes === undefined ? {} : { scopes: splitList(flags.scopes) }),
        ...(flags.models === undefined ? {} : { models: splitList(flags.models) }),
        ...(flags.expires === undefined ? {} : { expiresAt: flags.expires }),
        ...(flags.limit === undefined ? {} : { requestsPerMinute: readInteger(flags.limit, '--limit') }),
      });
      if (!parsed.success) throw new CliError(`Not a key: ${describeIssues(parsed.error)}`, 2);
      const body = parsed.data;
      const made = await withKeys(context, (service) => service.create(body));
      context.show(
        made,
        () => `${made.key}\n${paint('dim', `${made.id} of ${made.organization}; the key is shown this once`)}`,
      );
    });

  keys
    .command('list')
    .description('every key, newest first')
    .action(async (_flags: object, command: Command) => {
      const context = buildContext(command);
      const page = await withKeys(context, (service) => service.list());
      context.show(page, () => {
        const rows = page.data.map((key) => [
          key.id,
          key.organization,
          key.name,
          `${key.prefix}…`,
          String(key.requestsPerMinute),
          describeStatus(key),
          key.lastUsedAt === null ? 'never' : showTime(key.lastUsedAt),
          key.scopes.join(','),
        ]);
        return buildTable(['ID', 'ORGANIZATION', 'NAME', 'KEY', 'PER MINUTE', 'STATUS', 'LAST USED', 'SCOPES'], rows);
      });
    });

  keys
    .command('rotate <id>')
    .description('give a key a new secret; the one before works on for a grace period')
    .option('--grace <seconds>', 'how long, 0 to 2592000', '86400')
    .action(async (id: string, flags: { grace: string }, command: Command) => {
      const context = buildContext(command);
      const made = await context.client.rotateApiKey(id, { gracePeriodSeconds: readInteger(flags.grace, '--grace') });
      const until = made.previousExpiresAt;
      const note = `the key is shown this once; the one before works until ${until === null ? 'now' : showTime(until)}`;
      context.show(made, () => `${made.key}\n${paint('dim', note)}`);
    });

  keys
    .command('revoke <id>')
    .description('end a key; it stops working within 5 s')
    .action(async (id: string, _flags: object, command: Command) => {
      const context = buildContext(command);
      await withKeys(context, (service) => service.revoke(id));
      context.show({ object: 'api_key.deleted', id, deleted: true }, () => `Revoked ${id}`);
    });
}
