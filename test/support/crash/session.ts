import { setTimeout as sleep } from 'node:timers/promises';
import type { EventEnvelope } from '../../../src/agents/contract/events.ts';
import { openClient } from '../../agents/api/events/client.ts';
import { KEY } from './application.ts';
import type { Application } from './application.ts';
import { writePrompt } from './model.ts';
import type { Random } from './random.ts';
import type { Action, SessionPlan } from './workload.ts';

/** One accepted event, from the service's response. */
export type Accepted = { id: string; type: string; text: string };

/** One session from the application's view. */
export type DrivenSession = {
  id: string;
  plan: SessionPlan;
  accepted: Accepted[];
  /** durable events seen on the stream or in lists, by sequence */
  seen: Map<number, string>;
  /** violations by the service */
  faults: string[];
  /** custom tool calls whose final result was accepted after a start */
  finals: string[];
  /** Whether everything was sent and nothing is in progress. */
  isSettled(): Promise<boolean>;
  done: Promise<unknown>;
};

/** Drives a session: sends, answers asks, and follows the stream by the resume procedure across restarts. */
export function driveSession(id: string, plan: SessionPlan, app: Application, random: Random): DrivenSession {
  const path = `/v1/sessions/${id}`;
  const seen = new Map<number, string>();
  const faults: string[] = [];
  const accepted: Accepted[] = [];
  const finals: string[] = [];
  const waiting = [...plan.actions];
  const asked = new Set<string>();
  let tasks = 0;
  let last = 0;
  let order: Promise<unknown> = Promise.resolve();

  const run = (work: () => Promise<unknown>) => {
    tasks += 1;
    work()
      .catch((error: unknown) => (app.closed ? undefined : faults.push(String(error))))
      .finally(() => (tasks -= 1));
  };

  const send = async (key: string, event: Record<string, unknown>, delivery?: string): Promise<number> => {
    const body = { events: [event], ...(delivery === undefined ? {} : { delivery }) };
    const reply = await app.call('POST', `${path}/events`, { body, idempotencyKey: `${id}:${key}` });
    if (reply.status < 300) {
      const [taken] = reply.body['data'] as EventEnvelope[];
      if (taken === undefined) faults.push(`an accepted ${String(event['type'])} has no event in the answer`);
      else accepted.push({ id: taken.id, type: String(event['type']), text: JSON.stringify(event) });
    } else if (![409, 410].includes(reply.status)) {
      faults.push(`${String(event['type'])} was answered ${reply.status}: ${JSON.stringify(reply.body)}`);
    }
    return reply.status;
  };

  const act = (action: Action) => {
    const key = `action ${plan.actions.indexOf(action)}`.replace(' ', '-');
    // In the order of the plan: later sends must be accepted later.
    const before = order;
    const work = async () => {
      await before;
      if (action.kind === 'prompt') {
        const content = [{ type: 'text', text: writePrompt(action.plan) }];
        await send(key, { type: 'user.message', content }, action.delivery);
      } else await send(key, { type: `user.${action.kind}`, message: action.text });
    };
    run(() => (order = work()));
  };

  const answerAsk = (ask: string, type: string) => {
    if (asked.has(ask)) return;
    asked.add(ask);
    const result = random.pick(['allow', 'allow', 'deny']);
    const isLong = random.next() < 0.6;
    const pauses = [random.between(0, 60), random.between(0, 300)];
    const content = [{ type: 'text', text: `charged ${ask}` }];
    run(async () => {
      await sleep(pauses[0]);
      if (type === 'agent.approval_request') {
        await send(`${ask}:answer`, { type: 'user.approval_response', approval_id: ask, result });
        return;
      }
      const final = { type: 'user.custom_tool_result', tool_use_id: ask, content };
      if (!isLong) {
        await send(`${ask}:answer`, final);
        return;
      }
      if ((await send(`${ask}:start`, { ...final, status: 'running' })) >= 300) return;
      await sleep(pauses[1]);
      const completed = { ...final, status: 'completed' };
      const statuses = await Promise.all(['final', 'again'].map((name) => send(`${ask}:${name}`, completed)));
      if (statuses.some((status) => status < 300)) finals.push(ask);
    });
  };

  const take = (event: EventEnvelope) => {
    const isDurable = event.status !== null && event.status !== 'streaming' && event.payload['delta'] !== true;
    if (!isDurable || event.type === 'session.tool_updated') return;
    const known = seen.get(event.sequence);
    if (known !== undefined && known !== event.id) faults.push(`sequence ${event.sequence} is two events`);
    seen.set(event.sequence, event.id);
    last = Math.max(last, event.sequence);
    if (event.type === 'agent.approval_request' || event.type === 'agent.custom_tool_use') {
      answerAsk(event.id, event.type);
    }
    while (waiting[0] !== undefined && waiting[0].afterEvents <= seen.size) act(waiting.shift() as Action);
  };

  const readHistory = async (from: number) => {
    for (let after = from; ;) {
      const { body } = await app.call('GET', `${path}/events?after=${after}&limit=100`);
      const events = body['data'] as EventEnvelope[];
      events.forEach(take);
      after = events.at(-1)?.sequence ?? after;
      if (!(body['pagination'] as { hasMore: boolean }).hasMore) return;
    }
  };

  const follow = async () => {
    let lastEventId: string | undefined;
    while (!app.closed) {
      const url = await app.url();
      let buffer: EventEnvelope[] | undefined = [];
      let previous = 0;
      try {
        const client = await openClient({ url, key: KEY, sessionId: id, lastEventId }, (frame) => {
          const event = frame.data;
          lastEventId = frame.id ?? lastEventId;
          if (buffer !== undefined) buffer.push(event);
          else take(event);
          if (event.status === null || event.status === 'streaming' || event.payload['delta'] === true) return;
          if (event.type === 'session.tool_updated') return;
          if (event.sequence <= previous) faults.push(`the stream sent ${event.sequence} after ${previous}`);
          previous = event.sequence;
        });
        const over = setInterval(() => app.closed && client.cut(), 50);
        await readHistory(last);
        const held = buffer;
        buffer = undefined;
        held.forEach(take);
        await client.ended;
        clearInterval(over);
      } catch {
        // the server is away, or the trial is over
      }
      await sleep(20);
    }
  };

  const done = follow().catch(() => undefined);
  while (waiting[0]?.afterEvents === 0) act(waiting.shift() as Action);

  return {
    id,
    plan,
    accepted,
    seen,
    faults,
    finals,
    done,
    async isSettled() {
      const { body } = await app.call('GET', path);
      if (body['status'] !== 'idle' || body['queuedCount'] !== 0 || tasks > 0) return false;
      const next = waiting.shift();
      if (next === undefined) return (body['pendingActions'] as unknown[]).length === 0;
      act(next);
      return false;
    },
  };
}
