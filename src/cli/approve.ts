import { setTimeout as sleep } from 'node:timers/promises';
import { Option } from 'commander';
import type { Command } from 'commander';
import type { Client, InboundEvent, OutboundPayload, Session } from '../../clients/typescript/index.ts';
import { ApprovalScope } from '../agents/contract/events.ts';
import { buildContext } from './context.ts';
import { describeInput, readPayload } from './describe-event.ts';
import { CliError } from './cli-error.ts';
import { buildFullDetail } from './chat/pending-actions.ts';
import { cleanText, cutLine } from './text.ts';

type ApproveFlags = { show?: boolean; deny?: boolean; scope: ApprovalScope; message?: string };
type ApprovalRequest = Extract<OutboundPayload, { type: 'agent.approval_request' }>;

const POLL_MS = 250;
/** How long a running turn may take to ask. */
const MAX_WAIT_MS = 30_000;
const PAGE = 100;

/** A prompt that was just sent may not have asked yet. */
async function waitWhileRunning(client: Client, sessionId: string): Promise<Session> {
  const deadline = Date.now() + MAX_WAIT_MS;
  for (;;) {
    const session = await client.getSession(sessionId);
    if (session.status !== 'running') return session;
    if (Date.now() > deadline) {
      throw new CliError(`The session is still running after ${MAX_WAIT_MS / 1000} s and asks for no approval.`);
    }
    await sleep(POLL_MS);
  }
}

/** The approval requests with these ids, in the order of the log. */
async function findRequests(client: Client, sessionId: string, ids: ReadonlySet<string>): Promise<ApprovalRequest[]> {
  const found: ApprovalRequest[] = [];
  for (let after = 0; ;) {
    const page = await client.listEvents(sessionId, { after, limit: PAGE });
    for (const event of page.data) {
      const payload = readPayload(event);
      if (payload.type === 'agent.approval_request' && ids.has(payload.id)) found.push(payload);
    }
    if (!page.pagination.hasMore || found.length === ids.size) return found;
    after = page.data.at(-1)?.sequence ?? after;
  }
}

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
      const requests = await findRequests(context.client, sessionId, ids);
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
