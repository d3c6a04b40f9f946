import type {
  AgentApprovalRequest,
  AgentClarifyRequest,
  AgentCustomToolUse,
  EventEnvelope,
  InboundEvent,
} from '../../../clients/typescript/index.ts';
import { describeInput } from '../describe-event.ts';
import { cleanText, cutLine, paint } from '../text.ts';
import type { Lines } from './lines.ts';
import type { View } from './view.ts';

/** Ctrl-C, or the person leaves: the session goes on waiting. */
type Unanswered = 'interrupted' | 'left';

const DETAIL_LINES = 12;
const DETAIL_WIDTH = 160;

export function isQuit(text: string): boolean {
  return /^\/(quit|exit)$/.test(text.trim());
}

/** All of an input, a line for each line of its fields. */
function listInput(input: unknown): string[] {
  const fields = typeof input === 'object' && input !== null ? Object.entries(input) : [];
  return fields.flatMap(([name, value]) => {
    const rows = cleanText(typeof value === 'string' ? value : JSON.stringify(value)).split('\n');
    const label = cleanText(name);
    return rows.length === 1 ? [`${label}: ${rows[0]}`] : [`${label}:`, ...rows.map((row) => `  ${row}`)];
  });
}

function drawLines(lines: readonly string[]): string {
  return lines.map((line) => `  ${paint('dim', '│')} ${line}`).join('\n');
}

/** The whole input: a person must be able to see what they approve. */
export function buildFullDetail(input: unknown): string {
  return drawLines(listInput(input));
}

/** The input, long ones cut; `isCut` says so. */
export function buildDetail(input: unknown): { text: string; isCut: boolean } {
  const lines = listInput(input);
  const shown = lines.slice(0, DETAIL_LINES).map((line) => cutDetail(line));
  const hidden = lines.length - DETAIL_LINES;
  if (hidden > 0) shown.push(`… ${hidden} more lines`);
  return { text: drawLines(shown), isCut: hidden > 0 || lines.some((line) => line.length > DETAIL_WIDTH) };
}

function cutDetail(line: string): string {
  return line.length > DETAIL_WIDTH ? `${line.slice(0, DETAIL_WIDTH)}… (${line.length} characters)` : line;
}

async function answerApproval(
  action: AgentApprovalRequest,
  lines: Lines,
  view: View,
): Promise<InboundEvent | Unanswered> {
  const answer = (result: 'allow' | 'deny', scope: 'once' | 'session' | 'always' = 'once') =>
    ({ type: 'user.approval_response', approval_id: action.id, result, scope }) as const;
  if (!lines.interactive) {
    const what = cutLine(describeInput(action.input), 80);
    view.note(
      paint('dim', `· ${action.tool_name} ${what}: denied, since nobody is here to approve it; --yolo lets it run`),
    );
    return answer('deny');
  }
  const server = action.mcp_server_name === null ? '' : ` of ${action.mcp_server_name}`;
  view.note(`${paint('yellow', '?')} ${paint('bold', cleanText(action.tool_name))}${cleanText(server)} asks to run`);
  const { text, isCut } = buildDetail(action.input);
  process.stdout.write(`${text}\n`);
  const choices = `${isCut ? 'v view all · ' : ''}y once · s session · a always · n no`;
  for (;;) {
    const said = await lines.read(`  ${paint('dim', choices)} ${paint('yellow', '›')} `, { fresh: true });
    if (typeof said === 'string') return 'interrupted';
    if (isQuit(said.text)) return 'left';
    switch (said.text.trim().toLowerCase()) {
      case 'v':
        process.stdout.write(`${buildFullDetail(action.input)}\n`);
        break;
      case 'y':
      case 'yes':
        return answer('allow');
      case 's':
        return answer('allow', 'session');
      case 'a':
        return answer('allow', 'always');
      case 'n':
      case 'no':
        return answer('deny');
      default:
        process.stdout.write(
          `  ${paint('dim', 'One letter, please; /quit leaves, and the session goes on waiting.')}\n`,
        );
    }
  }
}

async function answerQuestion(
  action: AgentClarifyRequest,
  lines: Lines,
  view: View,
): Promise<InboundEvent | Unanswered> {
  const choices = action.choices ?? [];
  view.note(`${paint('yellow', '?')} ${cleanText(action.question)}`);
  choices.forEach((choice, index) =>
    process.stdout.write(`  ${paint('yellow', String(index + 1))} ${cleanText(choice)}\n`),
  );
  const hint = choices.length > 0 ? 'a number, or your own answer; empty skips' : 'empty skips';
  const said = await lines.read(`  ${paint('dim', hint)} ${paint('yellow', '›')} `, { fresh: lines.interactive });
  if (said === 'interrupted' || (said === 'ended' && lines.interactive)) return 'interrupted';
  if (lines.interactive && said !== 'ended' && isQuit(said.text)) return 'left';
  const text = said === 'ended' ? '' : said.text.trim();
  if (!lines.interactive)
    view.note(paint('dim', said === 'ended' ? '· skipped, since the input has ended' : `  ${cleanText(text)}`));
  const choice = /^\d+$/.test(text) ? choices[Number(text) - 1] : undefined;
  return { type: 'user.clarify_result', request_id: action.request_id, answer: choice ?? text };
}

async function answerCustomTool(
  action: AgentCustomToolUse,
  lines: Lines,
  view: View,
): Promise<InboundEvent | Unanswered> {
  const result = (text: string, failed: boolean): InboundEvent => ({
    type: 'user.custom_tool_result',
    tool_use_id: action.id,
    content: [{ type: 'text', text }],
    status: failed ? 'failed' : 'completed',
    is_error: failed,
  });
  if (!lines.interactive) {
    view.note(
      paint('dim', `· ${action.name} is a tool of your application, which is not here: answered with a failure`),
    );
    return result('The application that runs this tool is not connected.', true);
  }
  view.note(
    `${paint('yellow', '?')} ${paint('bold', action.name)} is a tool of your application: what does it answer?`,
  );
  const said = await lines.read(`  ${paint('dim', 'empty is a failure')} ${paint('yellow', '›')} `);
  if (typeof said === 'string') return 'interrupted';
  if (isQuit(said.text)) return 'left';
  return said.text.trim() === '' ? result('The tool failed.', true) : result(said.text, false);
}

/** Puts every pending action to the person, in order. */
export async function answerPendingActions(
  pendingActions: readonly EventEnvelope[],
  lines: Lines,
  view: View,
): Promise<InboundEvent[] | Unanswered> {
  const answers: InboundEvent[] = [];
  for (const { payload: action } of pendingActions) {
    let answer: InboundEvent | Unanswered;
    if (action.type === 'agent.approval_request') answer = await answerApproval(action, lines, view);
    else if (action.type === 'agent.clarify_request') answer = await answerQuestion(action, lines, view);
    else if (action.type === 'agent.custom_tool_use') answer = await answerCustomTool(action, lines, view);
    else continue;
    if (typeof answer === 'string') return answer;
    answers.push(answer);
  }
  return answers;
}
