import { Option } from 'commander';
import type { Command } from 'commander';
import type { InboundEvent } from '../../clients/typescript/index.ts';
import { ApprovalScope } from '../agents/contract/events.ts';
import { buildContext } from './context.ts';
import { findActionRequests, waitWhileRunning } from './action-requests.ts';
import { describeInput } from './describe-event.ts';
import { CliError } from './cli-error.ts';
import { buildFullDetail } from './chat/pending-actions.ts';
import { cleanText, cutLine } from './text.ts';

type ApproveFlags = { show?: boolean; deny?: boolean; scope: ApprovalScope; message?: string };

export function addApproveCommand(program: Command): void {
  program
    .command('approve <session>')
    .description('answer every approval that a session waits for')
    .option('--show', 'show all of what the approvals are for, and answer none')
    .option('--deny', 'deny instead of allow')
    .addOption(
      new Option('--scope <scope>', 'this call, this tool in the session, or this tool for the agent and subject')
        .choices(ApprovalScope.options)
        .default('once'),
    )
    .option('--message <text>', 'guidance for the model, sent with the answer')
    .action(async (sessionId: string, flags: ApproveFlags, command: Command) => {
      const context = buildContext(command);
      const session = await waitWhileRunning(context.client, sessionId);
      const waiting = session.pendingActions.filter((action) => action.type === 'agent.approval_request');
      if (waiting.length === 0) throw new CliError('The session does not wait for an approval.');
      const ids = new Set(waiting.map((action) => action.eventId));
      const requests = await findActionRequests(context.client, sessionId, 'agent.approval_request', ids);
      if (flags.show === true) {
        context.show({ data: requests }, () =>
          requests.map(({ tool_name, input }) => `${cleanText(tool_name)}\n${buildFullDetail(input)}`).join('\n'),
        );
        return;
      }
      const result = flags.deny === true ? 'deny' : 'allow';
      const events: InboundEvent[] = waiting.map((action) => ({
        type: 'user.approval_response',
        approval_id: action.eventId,
        result,
        scope: flags.scope,
      }));
      if (flags.message !== undefined) events.push({ type: 'user.steer', message: flags.message });
      const sent = await context.client.sendEvents(sessionId, { events });
      const done = flags.deny === true ? 'Denied' : 'Allowed';
      context.show(sent, () =>
        requests
          .map(({ tool_name, input }) => `${done} ${tool_name}: ${cutLine(describeInput(input), 100)}`)
          .join('\n'),
      );
    });
}
