import { once } from 'node:events';
import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { openGatewayParts } from './support/gateway-parts.ts';
import { printMachine } from './support/figures.ts';
import { openLoad } from './support/load.ts';
import { readResident } from './support/processes.ts';
import { startPostgres } from '../test/support/services/postgres.ts';

/**
 * Resident memory of the gateway on PostgreSQL over 100,000 requests, half of them streams, and with 1,000 streams that are open and
 * silent. `node bench/gateway-memory.ts [requests] [streams]`
 */
const REQUESTS = Number(process.argv[2] ?? 100_000);
const STREAMS = Number(process.argv[3] ?? 1000);
const STEPS = 10;
const WIDTH = 32;

const parts = openGatewayParts();

printMachine();
const upstream = await parts.start('upstream');
const postgres = await startPostgres();
if (postgres === undefined) throw new Error('PostgreSQL is not installed.');
const gateway = await parts.start('gateway', upstream.url, postgres.url);
const load = openLoad(WIDTH);
const buildBody = (model: string, text: string) => (stream: boolean) =>
  JSON.stringify({ model, stream, max_tokens: 9, messages: [{ role: 'user', content: text }] });
const headers = { authorization: `Bearer ${gateway.key}` };
const paths = [
  { name: 'chat', url: `${gateway.url}/v1/chat/completions`, headers, body: buildBody('up/small', 'short') },
  { name: 'straight', url: `${gateway.url}/v1/chat/completions`, headers, body: buildBody('straight/small', 'short') },
  { name: 'messages', url: `${gateway.url}/v1/messages`, headers, body: buildBody('up/small', 'short') },
];
const show = (what: string) => console.log(`| ${what} | ${Math.round(readResident(gateway.pid))} MiB |`);

console.log('\n| | resident |\n|---|---|');
show('at the start');
for (let step = 1; step <= STEPS; step += 1) {
  let left = REQUESTS / STEPS;
  await Promise.all(
    Array.from({ length: WIDTH }, async () => {
      while (left-- > 0) await load.call(paths[left % paths.length]!, left % 2 === 0);
    }),
  );
  show(`after ${((REQUESTS / STEPS) * step).toLocaleString('en')} requests`);
}
await load.close();

const streams: IncomingMessage[] = [];
for (let index = 0; index < STREAMS; index += 50) {
  await Promise.all(
    Array.from({ length: Math.min(50, STREAMS - index) }, async () => {
      const open = request(paths[0]!.url, {
        method: 'POST',
        agent: false,
        headers: { ...headers, 'content-type': 'application/json' },
      });
      open.end(buildBody('up/small', 'silent')(true));
      const [response] = (await once(open, 'response')) as [IncomingMessage];
      response.resume();
      streams.push(response);
    }),
  );
}
show(`with ${streams.length.toLocaleString('en')} silent streams beside`);
for (const stream of streams) stream.destroy();
parts.close();
await postgres.stop();
