import { Option } from 'commander';
import type { Command } from 'commander';
import type { Client, Session } from '../../clients/typescript/index.ts';
import { buildContext, readPage } from './context.ts';
import { confirmLoss } from './confirm.ts';
import { getAgent } from './find-agent.ts';
import { buildFields, buildTable, paint, showTime } from './text.ts';

function showSession(session: Session): string {
  return buildFields({
    id: session.id,
    title: session.title,
    agent: `${session.agentId} v${session.agentVersion}`,
    subject: session.subjectId,
    role: session.role,
    status: session.status,
    yolo: session.yoloMode ? 'on' : undefined,
    'waits for': session.pendingActions.map((action) => `${action.type} ${action.eventId}`).join(', '),
    queued: session.queuedCount === 0 ? undefined : session.queuedCount,
    tokens: session.usage?.total,
    'last activity': showTime(session.lastActivityAt),
  });
}

const STATUSES = ['idle', 'running', 'waiting_on_human', 'archived'] as const;
type Status = (typeof STATUSES)[number];
type ListFlags = { agent?: string; subject?: string; status?: Status; limit: string; offset: string };
type CreateFlags = { subject: string; role?: string; title?: string; tag?: string; preview?: boolean; yolo?: boolean };

/** All pages of a session's trace. */
async function readSpans(client: Client, sessionId: string): Promise<unknown[]> {
  const spans: unknown[] = [];
  let cursor: string | undefined;
  do {
    const page = await client.getSessionTrace(sessionId, { limit: 100, ...(cursor === undefined ? {} : { cursor }) });
    spans.push(...page.resourceSpans);
    cursor = page.pagination.nextCursor ?? undefined;
  } while (cursor !== undefined);
  return spans;
}

export function addSessionCommands(program: Command): void {
  const sessions = program.command('sessions').description('conversations of subjects with agents');

  sessions
    .command('list')
    .description('the sessions, newest first')
    .option('--agent <agent>', 'of this agent')
    .option('--subject <subject>', 'of this subject')
    .addOption(new Option('--status <status>', STATUSES.join(', ')).choices(STATUSES))
    .option('--limit <n>', '1 to 100', '50')
    .option('--offset <n>', 'how many to leave out', '0')
    .action(async ({ agent, subject, status, ...page }: ListFlags, command: Command) => {
      const context = buildContext(command);
      const agentId = agent === undefined ? undefined : (await getAgent(context.client, agent)).id;
      const query = { ...readPage(page), agentId, subjectId: subject, status: status && [status] };
      const found = await context.client.listSessions(query);
      context.show(found, () => {
        if (found.data.length === 0) return paint('dim', 'No sessions');
        const rows = found.data.map((session) => [
          session.id,
          session.subjectId,
          session.status,
          showTime(session.lastActivityAt),
          session.title ?? '',
        ]);
        return buildTable(['ID', 'SUBJECT', 'STATUS', 'LAST ACTIVITY', 'TITLE'], rows);
      });
    });

  sessions
    .command('get <session>')
    .description('one session')
    .action(async (sessionId: string, _flags: object, command: Command) => {
      const context = buildContext(command);
      const session = await context.client.getSession(sessionId);
      context.show(session, () => showSession(session));
    });

  sessions
    .command('create <agent>')
    .description('open a session')
    .requiredOption('--subject <subject>', 'whom the agent serves')
    .option('--role <role>', 'role of the agent')
    .option('--title <title>', 'title')
    .option('--tag <tag>', 'the version that this tag names')
    .option('--preview', 'the newest version instead of the one in production')
    .option('--yolo', 'run tools that would ask')
    .action(async (reference: string, { subject, yolo, ...flags }: CreateFlags, command: Command) => {
      const context = buildContext(command);
      const { id } = await getAgent(context.client, reference);
      const body = { ...flags, agentId: id, subjectId: subject, yoloMode: yolo === true };
      const session = await context.client.createSession(body);
      context.show(session, () => showSession(session));
    });

  sessions
    .command('export <session>')
    .description('the turns of a session as OpenTelemetry spans')
    .option('--otlp', 'in the JSON encoding of OTLP, as collectors and viewers take it (the only format so far)')
    .action(async (sessionId: string, _flags: object, command: Command) => {
      const { client } = buildContext(command);
      process.stdout.write(`${JSON.stringify({ resourceSpans: await readSpans(client, sessionId) })}\n`);
    });

  sessions
    .command('archive <session>')
    .description('archive a session')
    .action(async (sessionId: string, _flags: object, command: Command) => {
      const context = buildContext(command);
      const session = await context.client.archiveSession(sessionId);
      context.show(session, () => `Archived ${session.id}`);
    });

  sessions
    .command('delete <session>')
    .description('delete a session and its events; the files stay')
    .option('--yes', 'do not ask')
    .action(async (sessionId: string, { yes }: { yes?: boolean }, command: Command) => {
      const context = buildContext(command);
      await confirmLoss(`Delete the session ${sessionId} and its events?`, { yes, json: context.json });
      const deleted = await context.client.deleteSession(sessionId);
      context.show(deleted, () => `Deleted ${deleted.id}`);
    });
}
