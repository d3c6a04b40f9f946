import type { Command } from 'commander';
import { buildContext } from '../context.ts';
import { readSecret } from './secret.ts';

type Flags = { url: string; name?: string };

export function addCredentialCommand(vaults: Command): void {
  vaults
    .command('add <vault>')
    .description('keep a bearer token of an MCP server; it is read from CAPSTAN_TOKEN or standard input')
    .requiredOption('--url <url>', 'address of the MCP server')
    .option('--name <name>', 'name of the credential; default: the address')
    .action(async (vault: string, { url, name }: Flags, command: Command) => {
      const context = buildContext(command);
      const token = readSecret(context.env, 'CAPSTAN_TOKEN');
      const auth = { type: 'static_bearer' as const, mcpServerUrl: url, token };
      const made = await context.client.createCredential(vault, { displayName: name ?? url, auth });
      context.show(made, () => `Added ${made.id}`);
    });
}
