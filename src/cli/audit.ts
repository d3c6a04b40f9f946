import type { Command } from 'commander';
import { CliError } from './cli-error.ts';
import { buildContext, readInteger } from './context.ts';
import { buildTable, cleanText, paint, showTime } from './text.ts';

type ListFlags = { actor?: string; action?: string; resource?: string; from?: string; to?: string; limit: string };

export function addAuditCommands(program: Command): void {
  const audit = program.command('audit').description('who changed what');

  audit
    .command('list', { isDefault: true })
    .description('records of the audit, newest first')
    .option('--actor <id>', 'key or person')
    .option('--action <name>', 'operation, such as setProduction')
    .option('--resource <id>', 'id, type, or type/id of what was changed')
    .option('--from <time>', 'not before, such as 2027-01-31T00:00:00Z')
    .option('--to <time>', 'before')
    .option('--limit <n>', 'records, 1 to 100', '50')
    .action(async ({ limit, ...filter }: ListFlags, command: Command) => {
      const context = buildContext(command);
      const page = await context.client.listAudit({ ...filter, limit: readInteger(limit, '--limit') });
      context.show(page, () => {
        const rows = page.data.map(({ time, actor, action, resource, sequence }) => [
          String(sequence),
          showTime(time),
          cleanText(actor.name),
          action,
          [resource.type, resource.id].filter((part) => part !== null).join('/'),
        ]);
        return buildTable(['#', 'TIME', 'WHO', 'ACTION', 'RESOURCE'], rows);
      });
    });

  audit
    .command('verify')
    .description('recompute the chain of all records; fails where it is broken')
    .action(async (_flags: object, command: Command) => {
      const context = buildContext(command);
      const found = await context.client.verifyAudit();
      const { brokenAt } = found;
      context.show(found, () => `${found.checked} records form a whole chain\n${paint('dim', found.lastHash ?? '')}`);
      if (brokenAt !== null)
        throw new CliError(`The chain is broken at record ${brokenAt.sequence}: ${brokenAt.reason}.`);
    });
}
