import type { Command } from 'commander';
import { buildContext } from './context.ts';
import { CliError } from './cli-error.ts';

export function addCreditCommands(program: Command): void {
  const credits = program.command('credits').description('what organizations may spend on videos');

  credits
    .command('grant <amount>')
    .description('give an organization credits; below zero takes some back')
    .requiredOption('--org <name>', 'organization')
    .action(async (amount: string, flags: { org: string }, command: Command) => {
      if (!/^-?\d{1,9}$/.test(amount)) throw new CliError('The amount must be a whole number.', 2);
      const context = buildContext(command);
      const { data } = await context.client.grantCredits({ organization: flags.org, amount: Number(amount) });
      context.show(data, () => `${flags.org} has ${data.balance} credits, ${data.reserved} more are set aside`);
    });

  credits
    .command('show')
    .description('the credits of the organization of your key')
    .action(async (_flags: object, command: Command) => {
      const context = buildContext(command);
      const { data } = await context.client.getCredits();
      context.show(data, () => `${data.balance} credits, ${data.reserved} more are set aside`);
    });
}
