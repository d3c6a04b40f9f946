import { userInfo } from 'node:os';
import type { Command } from 'commander';
import { isLiveOnly } from '../../../clients/typescript/index.ts';
import type { Client, EventEnvelope, Session } from '../../../clients/typescript/index.ts';
import { buildContext } from '../context.ts';
import { CliError } from '../cli-error.ts';
import { getAgent } from '../find-agent.ts';
import { omitUndefined } from '../../platform/records.ts';
import { cleanText, paint } from '../text.ts';
import { answerPendingActions, isQuit } from './pending-actions.ts';
import { openConversation } from './conversation.ts';
import { openPipedLines, openTerminalLines, readPrompt } from './lines.ts';
import type { Lines } from './lines.ts';
import { openView } from './view.ts';
import type { View } from './view.ts';

type Flags = {
  subject?: string;
  session?: string;
  resume?: boolean;
  preview?: boolean;
  tag?: string;
  yolo?: boolean;
};

const HELP = [
  '/goal <objective>    work until it is reached; /goal pause, resume, clear',
  '/quit                leave; the session stays',
  'Ctrl-C               end the turn; twice: leave',
  '\\ at the end         go on in the next line',
].join('\n');

/** Exit code of a program that Ctrl-C has ended. */
const INTERRUPTED_EXIT = 130;

async function openSession(client: Client, agent: string | undefined, flags: Flags): Promise<Session> {
  const yoloMode = flags.yolo === true;
  const subject = flags.subject ?? userInfo().username;
  const sessionId = flags.resume === true ? await findLastSession(client, agent, subject) : flags.session;
  if (sessionId !== undefined) {
    const session = await client.getSession(sessionId);
    if (!yoloMode || session.yoloMode) return session;
    return await client.updateSession(sessionId, { yoloMode });
  }
  if (agent === undefined) throw new CliError('Say which agent to talk to, or which --session to go on with.', 2);
  const { id } = await getAgent(client, agent);
  const { preview = false, tag } = flags;
  return await client.createSession({ agentId: id, subjectId: subject, yoloMode, preview, ...omitUndefined({ tag }) });
}

/** The session of the subject with the latest activity, with this agent if one is named. */
async function findLastSession(client: Client, agent: string | undefined, subjectId: string): Promise<string> {
  const agentId = agent === undefined ? undefined : (await getAgent(client, agent)).id;
  const query = { subjectId, order: 'activity', limit: 1, ...omitUndefined({ agentId }) } as const;
  const [last] = (await client.listSessions(query)).data;
  if (last === undefined) throw new CliError('There is no session to go on with.');
  return last.id;
}

/** The same conversation for machines: one event a line. */
function buildJsonView(): View {
  return {
    show: (event: EventEnvelope) => {
      if (!isLiveOnly(event)) process.stdout.write(`${JSON.stringify(event)}\n`);
    },
    note: () => {},
    makeRoom: () => {},
    hidePrompt: () => {},
    work: () => {},
    rest: () => {},
  };
}

/** Prompts and answers in turn, until the input ends or the person leaves. */
async function converse(client: Client, session: Session, lines: Lines, view: View): Promise<void> {
  const conversation = openConversation(client, session.id, (event) => view.show(event));
  let interrupts = 0;
  const onInterrupt = () => {
    interrupts += 1;
    if (interrupts > 1) process.exit(INTERRUPTED_EXIT);
    view.note(paint('dim', '· interrupting; Ctrl-C again leaves'));
    conversation.interrupt().catch((error: unknown) => view.note(String(error)));
  };
  process.on('SIGINT', onInterrupt);
  try {
    for (;;) {
      view.work();
      const { pendingActions } = await conversation.settle().finally(() => view.rest());
      interrupts = 0;
      if (pendingActions.length > 0) {
        const answers = await answerPendingActions(pendingActions, lines, view);
        if (answers === 'left') break;
        if (answers === 'interrupted') await conversation.interrupt();
        else await conversation.send(answers);
        continue;
      }
      const prompt = await readNext(lines, view);
      if (prompt === undefined) break;
      const [sent] = await conversation.send([{ type: 'user.message', content: [{ type: 'text', text: prompt }] }]);
      if (lines.interactive && sent !== undefined) view.hidePrompt(sent);
    }
    if (!lines.interactive && conversation.failed) process.exitCode = 1;
  } finally {
    process.off('SIGINT', onInterrupt);
    await conversation.close();
    lines.close();
  }
}

/** The next prompt that says something; undefined when there is none or the person leaves. */
async function readNext(lines: Lines, view: View): Promise<string | undefined> {
  let interrupted = false;
  for (;;) {
    if (lines.interactive) view.makeRoom();
    const said = await readPrompt(lines, { first: `${paint('cyan', '›')} `, next: `${paint('dim', '…')} ` });
    if (said === 'ended') return undefined;
    if (said === 'interrupted') {
      if (interrupted) return undefined;
      interrupted = true;
      view.note(paint('dim', '· Ctrl-C again or /quit leaves'));
      continue;
    }
    interrupted = false;
    if (isQuit(said.text)) return undefined;
    if (lines.interactive && said.text.trim() === '/help') {
      view.note(HELP);
      continue;
    }
    if (said.text.trim() !== '') return said.text;
  }
}

export function addChatCommand(program: Command): void {
  program
    .command('chat [agent]')
    .description('talk to an agent in the terminal')
    .option('--subject <subject>', 'as whom; default: your user name')
    .option('--session <id>', 'go on with this session')
    .option('--resume', 'go on with the last session')
    .option('--preview', 'the newest version instead of the one in production')
    .option('--tag <tag>', 'the version that this tag names')
    .option('--yolo', 'run tools that would ask')
    .action(async (agent: string | undefined, flags: Flags, command: Command) => {
      const { client, json } = buildContext(command);
      const session = await openSession(client, agent, flags);
      const interactive = process.stdin.isTTY && process.stdout.isTTY && !json;
      const view = json ? buildJsonView() : openView(process.stdout);
      if (interactive) {
        const name = paint('bold', cleanText(session.agentName));
        view.note(`${name} ${paint('dim', `serves ${session.subjectId} in ${session.id}`)}`);
        process.stdout.write(
          `${paint('dim', 'Ctrl-C interrupts · \\ at the end goes on in the next line · /quit leaves')}\n`,
        );
      }
      const lines = interactive ? openTerminalLines(process.stdin, process.stdout) : openPipedLines(process.stdin);
      await converse(client, session, lines, view);
      if (interactive) view.note(paint('dim', `Go on with: capstan chat --session ${session.id}`));
    });
}
