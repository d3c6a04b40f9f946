import { readFileSync } from 'node:fs';
import { Option } from 'commander';
import type { Command } from 'commander';
import { isLiveOnly } from '../../clients/typescript/index.ts';
import type { EventEnvelope } from '../../clients/typescript/index.ts';
import { EventsSend } from '../agents/contract/events.ts';
import { describeIssues } from '../platform/contract/validation.ts';
import { omitUndefined } from '../platform/records.ts';
import { describeEvent } from './describe-event.ts';
import { buildContext, readInteger } from './context.ts';
import { CliError } from './cli-error.ts';
import { cutLine, paint } from './text.ts';

function showEvent(event: EventEnvelope): string {
  const number = isLiveOnly(event) ? '' : String(event.sequence);
  const time = new Date(event.createdAt).toLocaleTimeString('en-GB');
  const width = Math.max(30, (process.stdout.columns ?? 200) - 46);
  const what = cutLine(describeEvent(event), width);
  return `${paint('dim', `${number.padStart(5)}  ${time}`)}  ${event.type.padEnd(26)}  ${what}`.trimEnd();
}

type SendFlags = { file?: string; steer?: boolean; interrupt?: boolean; delivery: 'immediate' | 'when_idle' };

function readEvents(message: string | undefined, flags: SendFlags): unknown {
  if (flags.interrupt === true) return [{ type: 'user.interrupt', ...omitUndefined({ message }) }];
  if (flags.file !== undefined) {
    try {
      const value: unknown = JSON.parse(readFileSync(flags.file === '-' ? 0 : flags.file, 'utf8'));
      return Array.isArray(value) ? value : [value];
    } catch (error) {
      throw new CliError(
        `${flags.file} contains invalid JSON: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
  }
  if (message === undefined) throw new CliError('Nothing to send: pass a message, or --file with events in JSON.', 2);
  return flags.steer === true
    ? [{ type: 'user.steer', message }]
    : [{ type: 'user.message', content: [{ type: 'text', text: message }] }];
}

export function addEventCommands(program: Command): void {
  const events = program.command('events').description('what happened in a session, and what you send into it');

  events
    .command('list <session>')
    .description('the history, in order')
    .option('--after <sequence>', 'past this one', '0')
    .option('--limit <n>', '1 to 100', '100')
    .action(async (sessionId: string, flags: { after: string; limit: string }, command: Command) => {
      const context = buildContext(command);
      const page = await context.client.listEvents(sessionId, {
        after: readInteger(flags.after, '--after'),
        limit: readInteger(flags.limit, '--limit'),
      });
      context.show(page, () => page.data.map(showEvent).join('\n') || paint('dim', 'No events'));
    });

  events
    .command('send <session> [message]')
    .description('send a message, guidance, an interrupt, or events from a file')
    .option('--steer', 'as guidance for the running turn')
    .option('--interrupt', 'end the running turn; the message says why')
    .option('--file <path>', 'events in JSON; - is standard input')
    .addOption(
      new Option('--delivery <when>', 'immediate or when_idle')
        .choices(['immediate', 'when_idle'])
        .default('immediate'),
    )
    .action(async (sessionId: string, message: string | undefined, flags: SendFlags, command: Command) => {
      const context = buildContext(command);
      const parsed = EventsSend.safeParse({ events: readEvents(message, flags), delivery: flags.delivery });
      if (!parsed.success) throw new CliError(`Not sent: ${describeIssues(parsed.error)}`);
      const sent = await context.client.sendEvents(sessionId, parsed.data);
      context.show(sent, () =>
        sent.data.map((event) => `${event.status ?? 'sent'}  ${event.type}  ${event.id}`).join('\n'),
      );
    });

  events
    .command('tail <session>')
    .description('follow a session until Ctrl-C')
    .option('--after <sequence>', 'begin with the history past this one; otherwise with what happens now')
    .option('--live', 'deltas and previews too, which no history keeps')
    .action(async (sessionId: string, flags: { after?: string; live?: boolean }, command: Command) => {
      const context = buildContext(command);
      const after = flags.after === undefined ? undefined : readInteger(flags.after, '--after');
      const leave = new AbortController();
      process.once('SIGINT', () => leave.abort());
      for await (const event of context.client.followEvents(sessionId, { after, signal: leave.signal })) {
        if (isLiveOnly(event) && flags.live !== true) continue;
        process.stdout.write(`${context.json ? JSON.stringify(event) : showEvent(event)}\n`);
      }
    });
}
