import type { AssistantPart, ModelReply } from '../../src/inference/model.ts';
import { startModelServer } from './model-server/server.ts';
import type { RecordedRequest, ScriptedAnswer } from './model-server/server.ts';

export type Answer = ScriptedAnswer | ((request: RecordedRequest) => ScriptedAnswer | Promise<ScriptedAnswer>);

/** The provider of a service under test. */
export type ServiceModel = {
  url: string;
  /** Requests of turns from now on get these answers, one after the other, and then "ok". */
  play(...answers: Answer[]): void;
  /** reply to title requests; null makes them fail */
  title: string | null;
  /** requests of turns since `play`, in order of arrival */
  requests: RecordedRequest[];
  /** requests for titles since `play` */
  titles: RecordedRequest[];
  /** what the judge of a goal answers next, one after the other, and then that the goal is reached */
  verdicts: Answer[];
  /** requests to the judge since `play` */
  judged: RecordedRequest[];
  /** what sums up a conversation next, one after the other, and then "a summary" */
  summaries: Answer[];
  /** requests for summaries since `play` */
  summarized: RecordedRequest[];
  /** resolves with the request of this number since `play`, as soon as it has come */
  request(number: number): Promise<RecordedRequest>;
  close(): Promise<void>;
};

const TITLE = /Write a title of/;
const SUMMARY = /Sum up the earlier part of a conversation/;
const JUDGE = /You judge whether the goal/;
export const TITLE_USAGE = { input: 100, output: 7, cacheRead: 0, cacheWrite: 0, reasoning: 0 };

export const JUDGE_USAGE = { input: 50, output: 5, cacheRead: 0, cacheWrite: 0, reasoning: 0 };

export async function startServiceModel(): Promise<ServiceModel> {
  const server = await startModelServer();
  let answers: Answer[] = [];
  let waiting: (() => void)[] = [];
  const model: ServiceModel = {
    url: server.url,
    title: 'A title',
    requests: [],
    titles: [],
    verdicts: [],
    judged: [],
    summaries: [],
    summarized: [],
    play(...next) {
      answers = next;
      model.requests = [];
      model.titles = [];
      model.verdicts = [];
      model.judged = [];
      model.summaries = [];
      model.summarized = [];
    },
    request(number) {
      return new Promise((resolve) => {
        const check = () => {
          const found = model.requests[number];
          if (found === undefined) waiting.push(check);
          else resolve(found);
        };
        check();
      });
    },
    close: () => server.close(),
  };
  server.script((request) => {
    if (TITLE.test(JSON.stringify(request.body))) {
      model.titles.push(request);
      if (model.title === null) return { status: 400 };
      return { reply: { content: [{ type: 'text', text: model.title }], usage: TITLE_USAGE } };
    }
    if (SUMMARY.test(JSON.stringify(request.body))) {
      model.summarized.push(request);
      const summary = model.summaries.shift() ?? say('a summary');
      return typeof summary === 'function' ? summary(request) : summary;
    }
    if (JUDGE.test(JSON.stringify(request.body))) {
      model.judged.push(request);
      const verdict = model.verdicts.shift() ?? judge('done', 'It is there.');
      return typeof verdict === 'function' ? verdict(request) : verdict;
    }
    model.requests.push(request);
    const checks = waiting;
    waiting = [];
    checks.forEach((check) => check());
    const answer = answers.shift() ?? say('ok');
    return typeof answer === 'function' ? answer(request) : answer;
  });
  return model;
}

export function say(text: string, more: Partial<ModelReply> = {}): ScriptedAnswer {
  return { reply: { content: [{ type: 'text', text }], ...more } };
}

/** A verdict of the judge. */
export function judge(verdict: string, reason: string): ScriptedAnswer {
  return say(JSON.stringify({ verdict, reason }), { usage: JUDGE_USAGE });
}

let calls = 0;

export type Call = [name: string, input: unknown];

/** A reply with tool calls, after optional text. A string as input is sent unchanged. */
export function callTools(list: readonly Call[], text = ''): ScriptedAnswer {
  const parts = list.map(([name, input]): AssistantPart => {
    calls += 1;
    const json = typeof input === 'string' ? input : JSON.stringify(input);
    return { type: 'tool_call', id: `call_${calls}`, name, arguments: json };
  });
  return { reply: { content: [...(text === '' ? [] : [{ type: 'text' as const, text }]), ...parts] } };
}

export function callTool(name: string, input: unknown, text = ''): ScriptedAnswer {
  return callTools([[name, input]], text);
}

type ChatMessage = { role: string; content: string | { type: string; text?: string }[] | null };

/** The messages of a request in the chat-completions format: `user: …`, `tool: …`. */
export function readChat({ body }: RecordedRequest): string[] {
  return (body['messages'] as ChatMessage[]).map(({ role, content }) => {
    const text = typeof content === 'string' ? content : (content ?? []).map((part) => part.text ?? '').join('');
    return `${role}: ${text}`;
  });
}

export function toolNames({ body }: RecordedRequest): string[] {
  return ((body['tools'] ?? []) as { function: { name: string } }[]).map((tool) => tool.function.name);
}
