import { Command, CommanderError } from 'commander';
import { VERSION } from '../platform/contract/version.ts';
import { addAgentCommands } from './agents.ts';
import { addAnswerCommand } from './answer.ts';
import { addCompletionCommand } from './completion.ts';
import { addApiCommand } from './rest/api.ts';
import { addRestCommands } from './rest/commands.ts';
import { addDoctorCommand } from './rest/doctor.ts';
import { addTransferCommands } from './rest/files.ts';
import { addExportCommand } from './rest/subjects.ts';
import { addLoginCommand } from './rest/login.ts';
import { addProviderCommand } from './rest/providers.ts';
import { addCredentialCommand } from './rest/vaults.ts';
import { addApproveCommand } from './approve.ts';
import { addBackupCommands } from './backup.ts';
import { addChatCommand } from './chat/command.ts';
import { addCreditCommands } from './credits.ts';
import { addDemoCommand } from './demo.ts';
import { addEventCommands } from './events.ts';
import { CliError, describeError } from './cli-error.ts';
import { addAuditCommands } from './audit.ts';
import { addKeyCommands } from './keys.ts';
import { addSessionCommands } from './sessions.ts';
import { addTemplateCommands } from './templates.ts';
import { addWebhookListener } from './webhooks/listen.ts';

function buildProgram(): Command {
  const program = new Command('capstan')
    .description('Talk to a Capstan server.')
    .version(VERSION, '--version', 'print the version')
    .option('--json', 'print JSON, for machines')
    .configureHelp({ showGlobalOptions: true })
    .addHelpText('after', '\nServer: CAPSTAN_URL and CAPSTAN_API_KEY; by default the one that runs on this machine.');
  addChatCommand(program);
  addAgentCommands(program);
  addSessionCommands(program);
  addEventCommands(program);
  addApproveCommand(program);
  addAnswerCommand(program);
  addKeyCommands(program);
  addAuditCommands(program);
  addCreditCommands(program);
  addTemplateCommands(program);
  addBackupCommands(program);
  addDemoCommand(program);
  const groups = addRestCommands(program);
  addTransferCommands(groups.get('files') ?? program);
  addExportCommand(groups.get('subjects') ?? program);
  addCredentialCommand(groups.get('vaults') ?? program);
  addProviderCommand(groups.get('providers') ?? program);
  addWebhookListener(groups.get('webhooks') ?? program);
  addLoginCommand(program);
  addApiCommand(program);
  addDoctorCommand(program);
  addCompletionCommand(program);
  return throwInsteadOfExit(program);
}

/** Usage errors come as exceptions from every command, so that one place decides the exit code. */
function throwInsteadOfExit(command: Command): Command {
  command.exitOverride();
  command.commands.forEach(throwInsteadOfExit);
  return command;
}

/** 0, 1 for what failed, 2 for usage. */
async function main(): Promise<number> {
  try {
    await buildProgram().parseAsync();
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    process.stderr.write(`capstan: ${describeError(error)}\n`);
    return error instanceof CliError ? error.exitCode : 1;
  }
}

// `capstan events tail … | head` ends the reader before the writer: nothing is wrong.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

const exitCode = await main();
process.exitCode ??= exitCode;
