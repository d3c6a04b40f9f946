import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ConnectionError } from '../../../../clients/typescript/index.ts';
import type { EventEnvelope } from '../../../../clients/typescript/index.ts';
import { waitFor } from '../cluster.ts';
import type { Installation } from './installation.ts';

const SLOW_MS = 180_000;

/** A session on the built-in model; each prompt contains a command. */
export type Conversation = {
  agentId: string;
  subjectId: string;
  id: string;
  /** names of the custom resource and of its pod */
  name: string;
  /** The output of the command, from the result in the log. */
  run(command: string): Promise<string>;
  /** The same in two steps: resolves when the prompt is taken, with what waits for the result. */
  start(command: string): Promise<() => Promise<string>>;
  events(): Promise<EventEnvelope[]>;
};

export async function openConversation(
  installation: Installation,
  { subjectId, agentId: given }: { subjectId: string; agentId?: string },
): Promise<Conversation> {
  const { client } = installation;
  const agentId = given ?? (await createAgent(client));
  const { id } = await client.createSession({ agentId, subjectId, title: 'Test', yoloMode: true });
  return continueConversation(installation, { agentId, subjectId, id });
}

/** On an existing session. */
export function continueConversation(
  { client, kubectl, namespace }: Installation,
  { agentId, subjectId, id }: Pick<Conversation, 'agentId' | 'subjectId' | 'id'>,
): Conversation {
  const events = async () => {
    const all: EventEnvelope[] = [];
    for (;;) {
      const { data, pagination } = await client.listEvents(id, { after: all.at(-1)?.sequence ?? 0 });
      all.push(...data);
      if (!pagination.hasMore) return all;
    }
  };
  const start = async (command: string): Promise<() => Promise<string>> => {
    const before = (await waitFor('the log', () => events().catch(ignoreRefusal), SLOW_MS)).at(-1)?.sequence ?? 0;
    const content = [{ type: 'text' as const, text: `run: ${command}` }];
    const idempotencyKey = randomUUID();
    const send = () => client.sendEvents(id, { events: [{ type: 'user.message', content }] }, { idempotencyKey });
    await waitFor('the prompt is taken', () => send().catch(ignoreRefusal), SLOW_MS);
    return async () => {
      const news = await waitFor(
        `the turn of ${command}`,
        async () => {
          // Rarely enough for the key's rate limit.
          await sleep(250);
          const after = (await events().catch(ignoreRefusal))?.filter(({ sequence }) => sequence > before);
          return after?.some(({ type }) => type === 'session.status_idle') ? after : undefined;
        },
        SLOW_MS,
      );
      try {
        return readOutput(news.find(({ type }) => type === 'agent.tool_result'));
      } catch (error) {
        const selector = 'app.kubernetes.io/component=worker';
        const logs = await kubectl('-n', namespace, 'logs', '-l', selector, '-c', 'worker', '--tail=20').catch(String);
        throw new Error(`${String(error)}\nWorkers say: ${logs}`, { cause: error });
      }
    };
  };
  return {
    agentId,
    subjectId,
    id,
    name: id.replaceAll('_', '-'),
    events,
    start,
    run: async (command) => (await start(command))(),
  };
}

/** On a busy machine no pod may be ready for a while; the Service then refuses connections. */
function ignoreRefusal(error: unknown): undefined {
  if (!(error instanceof ConnectionError)) throw error;
}

export async function createAgent(client: Installation['client']): Promise<string> {
  const rateLimits = { conversationsPerMinute: 300, messagesPerMinute: 1000 };
  const body = { name: 'Ada', modelName: 'script/demo', systemPrompt: 'Be brief.', skills: [], tools: [], rateLimits };
  return (await client.createAgent(body)).id;
}

/** Of a result of the tool `terminal`. */
export function readOutput(event: EventEnvelope | undefined): string {
  const payload = event?.payload as { content?: { text?: string }[] } | undefined;
  const text = payload?.content?.[0]?.text;
  if (text === undefined) throw new Error(`no result of a tool: ${JSON.stringify(event)}`);
  const { output } = JSON.parse(text) as { output?: unknown };
  if (typeof output !== 'string') throw new Error(`the command did not run: ${text}`);
  return output.trim();
}
