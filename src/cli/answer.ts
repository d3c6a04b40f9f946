import type { Command } from 'commander';
import type { InboundEvent, OutboundPayload } from '../../clients/typescript/index.ts';
import { findActionRequests, waitWhileRunning } from './action-requests.ts';
import { CliError } from './cli-error.ts';
import { buildContext } from './context.ts';
import { cleanText } from './text.ts';

type Clarification = Extract<OutboundPayload, { type: 'agent.clarify_request' }>;

function showQuestion({ question, choices }: Clarification): string {
  const listed = (choices ?? []).map((choice, index) => `  ${index + 1} ${choice}`);
  return cleanText([`? ${question}`, ...listed].join('\n'));
}

/** A number selects one of the choices. */
function readAnswer({ choices }: Clarification, text: string): string {
  return /^\d{1,3}$/.test(text.trim()) ? (choices?.[Number(text) - 1] ?? text) : text;
}

export function addAnswerCommand(program: Command): void {
  program
    .command('answer <session> [answers...]')
    .description('answer the questions that a session waits for, in their order; without answers, show them')
    .action(async (sessionId: string, answers: string[], _flags: object, command: Command) => {
      const context = buildContext(command);
      const session = await waitWhileRunning(context.client, sessionId);
      const waiting = session.pendingActions.filter((action) => action.type === 'agent.clarify_request');
      if (waiting.length === 0) throw new CliError('The session does not wait for an answer.');
      const ids = new Set(waiting.map((action) => action.eventId));
      const asked = await findActionRequests(context.client, sessionId, 'agent.clarify_request', ids);
      if (answers.length === 0) {
        context.show({ data: asked }, () => asked.map(showQuestion).join('\n'));
        return;
      }
      if (answers.length > asked.length) {
        throw new CliError(`The session waits for ${asked.length} answers. Quote answers of several words.`, 2);
      }
      const events = asked.slice(0, answers.length).map((request, index): InboundEvent => ({
        type: 'user.clarify_result',
        request_id: request.request_id,
        answer: readAnswer(request, answers[index] ?? ''),
      }));
      const sent = await context.client.sendEvents(sessionId, { events });
      context.show(sent, () => `Answered ${events.length} of ${asked.length}`);
    });
}
