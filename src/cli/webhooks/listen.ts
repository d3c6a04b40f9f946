import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { createParser } from 'eventsource-parser';
import { WEBHOOK_EVENTS, isStreamed, listStreamTypes } from '../../platform/contract/webhooks.ts';
import { errorText } from '../../platform/errors.ts';
import { makeWebhookSecret } from '../../platform/webhook-signature.ts';
import { CliError } from '../cli-error.ts';
import { findConnection } from '../connection.ts';
import type { Connection } from '../connection.ts';
import { buildContext } from '../context.ts';
import { cleanText, paint } from '../text.ts';
import { readDelivery } from './delivery.ts';
import type { LocalDelivery } from './delivery.ts';
import { forwardDelivery } from './forward.ts';
import type { Forwarded, ForwardOptions } from './forward.ts';

type Flags = { forward: string; events?: string; secret?: string; full?: boolean };

/** Between two tries to reach the server. */
const RECONNECT_MS = 1000;

function readTarget(given: string): string {
  const text = /^\d+$/.test(given) ? `http://localhost:${given}` : given;
  const url = URL.parse(text.includes('://') ? text : `http://${text}`);
  if (url === null || !/^https?:$/.test(url.protocol)) throw new CliError(`--forward is no http address: ${given}`, 2);
  return url.href;
}

/** The names of webhooks to forward. */
function readEvents(given: string | undefined): string[] {
  if (given === undefined || given === '*') return WEBHOOK_EVENTS.filter(isStreamed);
  const names = given.split(',').map((name) => name.trim());
  for (const name of names) {
    const known = WEBHOOK_EVENTS.find((event) => event === name);
    if (known === undefined)
      throw new CliError(`There is no event ${name}. There are ${WEBHOOK_EVENTS.join(', ')}.`, 2);
    if (!isStreamed(known)) throw new CliError(`${name} is sent to webhooks only, and cannot be forwarded.`, 2);
  }
  return names;
}

function readSecret(given: string | undefined): string {
  if (given !== undefined && !/^whsec_[A-Za-z0-9+/]{32,}={0,2}$/.test(given)) {
    throw new CliError('--secret must be whsec_ and at least 24 bytes in base64.', 2);
  }
  return given ?? makeWebhookSecret();
}

function describe({ delivery, status, error, ms }: Forwarded): string {
  const time = new Date().toTimeString().slice(0, 8);
  const ok = status !== null && status >= 200 && status < 300;
  const answer = status === null ? `failed: ${cleanText(error ?? '')}` : `${status} (${ms} ms)`;
  const about = delivery.sessionId === '' ? '' : ` ${delivery.sessionId}`;
  return `${paint('dim', time)}  ${delivery.type}${paint('dim', about)}  ${delivery.id} → ${ok ? answer : paint('red', answer)}`;
}

/** Deliveries of one session one after the other, those of different sessions beside each other. */
function openQueue(run: (delivery: LocalDelivery) => Promise<void>): (delivery: LocalDelivery) => void {
  const tails = new Map<string, Promise<void>>();
  return (delivery) => {
    const { sessionId } = delivery;
    const tail = (tails.get(sessionId) ?? Promise.resolve()).then(() => run(delivery));
    tails.set(sessionId, tail);
    void tail.finally(() => tails.get(sessionId) === tail && tails.delete(sessionId));
  };
}

type StreamHandlers = { onOpen(): void; onMessage(data: string): void; onMissed(): void };

/** Reads the stream of the organization until it ends. Returns the position to go on from. */
async function readStream(
  { baseUrl, apiKey }: Connection,
  types: readonly string[],
  position: string | undefined,
  handlers: StreamHandlers,
): Promise<string | undefined> {
  const url = `${baseUrl.replace(/\/$/, '')}/v1/events/stream?types=${types.join(',')}`;
  const resume = position === undefined ? {} : { 'last-event-id': position };
  const response = await fetch(url, { headers: { 'x-api-key': apiKey, accept: 'text/event-stream', ...resume } });
  if (response.status === 401 || response.status === 403) {
    await response.body?.cancel();
    throw new CliError(`The server refuses this key (${response.status}). It needs the scope agents:read.`);
  }
  if (!response.ok || response.body === null) throw new Error(`the server answered ${response.status}`);
  handlers.onOpen();
  let last = position;
  const parser = createParser({
    onEvent(event) {
      last = event.id ?? last;
      if (event.event === 'reset') handlers.onMissed();
      else handlers.onMessage(event.data);
    },
  });
  const decoder = new TextDecoder();
  for await (const chunk of response.body) parser.feed(decoder.decode(chunk, { stream: true }));
  return last;
}

async function listen(flags: Flags, command: Command): Promise<void> {
  const context = buildContext(command);
  const connection = findConnection(context.env);
  const events = readEvents(flags.events);
  const options: ForwardOptions = {
    url: readTarget(flags.forward),
    secret: readSecret(flags.secret),
    ...(flags.full === true
      ? { readEvent: (sessionId: string, eventId: string) => context.client.getEvent(sessionId, eventId) }
      : {}),
  };
  const print = (value: object, text: string): void => {
    process.stdout.write(`${context.json ? JSON.stringify(value) : text}\n`);
  };
  const queue = openQueue(async (delivery) => {
    const forwarded = await forwardDelivery(delivery, options);
    const { id, type, sessionId } = delivery;
    const { status, error, ms } = forwarded;
    print({ object: 'delivery', id, type, sessionId, status, error, ms }, describe(forwarded));
  });
  let position: string | undefined;
  let isReady = false;
  const handlers: StreamHandlers = {
    onOpen() {
      if (isReady) return;
      isReady = true;
      const { url, secret } = options;
      print({ object: 'listening', url, events, secret }, `Forwarding to ${url}\nSigning secret: ${secret}`);
    },
    onMessage(data) {
      const delivery = readDelivery(data);
      if (delivery !== undefined && events.includes(delivery.type)) queue(delivery);
    },
    onMissed: () => void process.stderr.write('capstan: events were missed while the server was away\n'),
  };
  for (;;) {
    try {
      position = await readStream(connection, listStreamTypes(events), position, handlers);
    } catch (error) {
      if (error instanceof CliError) throw error;
      if (!isReady) throw new CliError(`Cannot reach ${connection.baseUrl}: ${errorText(error)}`);
      process.stderr.write(`capstan: the connection broke off, trying again: ${cleanText(errorText(error))}\n`);
    }
    await sleep(RECONNECT_MS);
  }
}

export function addWebhookListener(webhooks: Command): void {
  webhooks
    .command('listen')
    .description('forward deliveries to an address on this machine, until it is stopped')
    .requiredOption('--forward <url>', 'where to, such as http://localhost:3000/hook')
    .option('--events <names>', 'only these, separated by commas; default: all')
    .option('--secret <secret>', 'signs the deliveries; default: a new one')
    .option('--full', 'deliveries hold the whole event')
    .action(async (flags: Flags, command: Command) => listen(flags, command));
}
