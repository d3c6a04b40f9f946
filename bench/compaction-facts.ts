// Counts the facts that survive compaction: 100 facts, ten in each of ten tool results of 6,000 characters, then work
// that fills the window again and again. A fact counts as answerable if the request of the next turn contains it
// verbatim. The summarizer is scripted: it repeats every fact in its input, within the output limit of its request. So
// the figure is the loss in the service itself: text that it cuts before the summarizer reads it, and text that it
// drops from summaries. A real model loses more.
// Needs: the services of the tests.
import { printMachine } from './support/figures.ts';
import type { Tool } from '../src/agents/tools/tool.ts';
import { allowAll } from '../test/support/chat.ts';
import type { Chat } from '../test/support/chat.ts';
import type { RecordedRequest, ScriptedAnswer } from '../test/support/model-server/server.ts';
import { callTool, say } from '../test/support/service-model.ts';
import { startService } from '../test/support/service.ts';

const FACTS = 100;
const PER_PAGE = 10;
const PASSES = 4;
const FACT = /The code of depot \d+ is [A-Z]{2}-\d{4}-[A-Z]{2}\./g;

const fact = (number: number): string => {
  const letters = String.fromCharCode(65 + (number % 26), 65 + ((number * 7) % 26));
  return `The code of depot ${number} is ${letters}-${1000 + ((number * 7919) % 9000)}-${letters}.`;
};

/** Filler that resembles no fact; different on each page. */
const filler = (seed: number, characters: number): string => {
  let text = '';
  for (let line = 0; text.length < characters; line += 1) text += `Entry ${seed}/${line}: delivered, signed, filed.\n`;
  return text.slice(0, characters);
};

/** Pages 0 to 9 hold ten facts each, spread over the page; later pages hold none. */
const archive: Tool = {
  name: 'archive',
  toolset: 'file',
  description: 'Reads a page of the archive.',
  parameters: { type: 'object', properties: { page: { type: 'integer' } }, required: ['page'] },
  readOnly: true,
  parallelism: () => 'shared',
  run(input) {
    const page = Number(input['page']);
    const facts =
      page * PER_PAGE >= FACTS ? [] : Array.from({ length: PER_PAGE }, (_, at) => fact(page * PER_PAGE + at));
    const gap = Math.floor((6000 - facts.join('').length) / (facts.length + 1));
    const content = [...facts, ''].map((text, at) => `${filler(page * 100 + at, gap)}${text}\n`).join('');
    return Promise.resolve({ content, isError: false });
  },
};

const findFacts = (body: unknown): Set<string> => new Set(JSON.stringify(body).match(FACT));

/** The provider counts four characters as a token. */
const counted = ({ body }: RecordedRequest, answer: ScriptedAnswer): ScriptedAnswer => ({
  reply: {
    ...answer.reply,
    usage: { input: Math.ceil(JSON.stringify(body).length / 4), output: 50, cacheRead: 0, cacheWrite: 0, reasoning: 0 },
  },
});

function summarize(request: RecordedRequest): ScriptedAnswer {
  const limit = Number(request.body['max_completion_tokens'] ?? request.body['max_tokens'] ?? Infinity);
  return counted(request, say([...findFacts(request.body)].join('\n').slice(0, limit * 4)));
}

const countPasses = async (chat: Chat): Promise<number> =>
  (await chat.list()).filter(({ type }) => type === 'session.compacted').length;

printMachine();
const service = await startService({ tools: [archive] });
const chat = await service.api.openChat(await service.api.createAgent({ tools: allowAll }));
let page = 0;
const readPage = async (): Promise<void> => {
  const read = callTool('archive', { page });
  service.model.play(
    (request) => counted(request, read),
    (request) => counted(request, say(`Page ${page} is read.`)),
  );
  service.model.summaries = Array.from({ length: 10 }, () => summarize);
  await chat.run(`Read page ${page}.`);
  page += 1;
};
for (let read = 0; read < FACTS; read += PER_PAGE) await readPage();
console.log(`all facts read: ${await countPasses(chat)} passes so far`);
for (let pass = await countPasses(chat); pass < PASSES;) {
  await readPage();
  const now = await countPasses(chat);
  if (now === pass) continue;
  pass = now;
  service.model.play((request) => counted(request, say('I know them.')));
  await chat.run('Which codes do you know?');
  const known = findFacts(service.model.requests.at(-1)?.body);
  console.log(`after ${pass} ${pass === 1 ? 'pass' : 'passes'}: ${known.size} of ${FACTS} facts answerable`);
}
chat.close();
await service.close();
