import assert from 'node:assert/strict';

/** What a client did with a scenario. */
export type ClientOutcome = {
  /** its last text; undefined if it ended with an error */
  said: string | undefined;
  /** each request of the model as text, message by message */
  requests: string[][];
};

/** What a client must have done, or why the scenario says nothing about it. */
export type Applicable = ((outcome: ClientOutcome) => void) | string;

const PEOPLE = 'nobody answers, approves, steers or interrupts while a client runs without a terminal';
const TURNS = 'a run without a terminal has one prompt';
const COMPACTION = 'clients compact by the windows of models they know, not by the window of the scripted one';
const SERVICE = 'the client has no counterpart';

const lastRead = ({ requests }: ClientOutcome, number: number): string => requests[number]?.at(-1) ?? '';

function endsWell({ said }: ClientOutcome): void {
  assert.equal(said, 'done', said === undefined ? 'it ended with an error' : `its last text: ${said}`);
}

/** It ends with an error within the given number of model calls. */
const fails =
  (calls: number) =>
  ({ said, requests }: ClientOutcome): void => {
    assert.equal(said, undefined, `it ended as if all were well: ${said}`);
    assert.ok(requests.length <= calls, `${requests.length} model calls`);
  };

const reads =
  (number: number, pattern: RegExp) =>
  (outcome: ClientOutcome): void => {
    endsWell(outcome);
    assert.match(lastRead(outcome, number), pattern);
  };

const PROVIDER: Record<string, Applicable> = {
  '429 with Retry-After': endsWell,
  '503 twice': endsWell,
  '529 three times': endsWell,
  'a page of HTML': endsWell,
  'a stream that breaks off': endsWell,
  'an empty reply': endsWell,
  'empty replies only': fails(5),
  'a reply that was filtered': fails(5),
  'a rejected key': fails(5),
  'a text cut off twice is one message': ({ said }) => assert.equal(said, 'One, two, three.'),
  'a text that never ends': fails(9),
  'a call that was cut off is told with the limit': reads(1, /limit|cut off|truncat/i),
  'a call that is cut off again and again': fails(5),
  'a failing call that is repeated': fails(8),
  'a failing call that the model corrects': endsWell,
};

const TOOLS: Record<string, Applicable> = {
  'a command prints 60,000 characters'(outcome) {
    endsWell(outcome);
    assert.ok(lastRead(outcome, 1).length < 45_000, `${lastRead(outcome, 1).length} characters`);
  },
  'four long results in one reply'(outcome) {
    endsWell(outcome);
    const characters = (outcome.requests[1] ?? []).filter((text) => text.startsWith('tool: ')).join('').length;
    assert.ok(characters < 80_000, `${characters} characters`);
  },
  'a result that is too long for the window': endsWell,
  'a long file, read in parts'(outcome) {
    assert.match(lastRead(outcome, 2), /\b50\b/);
    assert.match(lastRead(outcome, 3), /\b4000\b/);
  },
  'a progress bar costs one line': (outcome) =>
    assert.ok(lastRead(outcome, 1).length < 400, `${lastRead(outcome, 1).length} characters`),
  'quotes and line breaks arrive as they are': reads(1, /say "hi"\nand go/),
  'a name that is nearly right': reads(1, /tool|unsupported/i),
  'a name that no tool has': reads(1, /tool|unsupported/i),
  'arguments that are no JSON': endsWell,
  'a missing argument': reads(1, /missing|required|failed to parse/i),
  'a number as text': endsWell,
  'a patch without a mode': reads(1, /none\.txt|exist|find/i),
  'a denied tool': PEOPLE,
  'a patch, and the file after it': (outcome) => assert.match(lastRead(outcome, 3), /answer = 42/),
  'a patch that fits nowhere shows the nearest place': (outcome) =>
    assert.match(lastRead(outcome, 2), /const answer = 41/),
  'a file that is not there, with one of a similar name': (outcome) => assert.match(lastRead(outcome, 2), /report\.md/),
  'a script that calls tools': SERVICE,
  'a custom tool with a wrong input goes back to the model': SERVICE,
};

const ORDER: Record<string, Applicable> = {
  'an allowed call waits for the approval before it': PEOPLE,
  'nothing runs behind an open question': PEOPLE,
  'a denied call leaves the rest of the reply to run': PEOPLE,
  'all requests of a reply are put at once': PEOPLE,
  'two writes of one file keep their order': reads(1, /second/),
  'a hundred calls of one reply'(outcome) {
    endsWell(outcome);
    assert.equal((outcome.requests[1] ?? []).filter((text) => text.startsWith('tool: ')).length, 100);
  },
  'guidance during a command reaches the next model call': PEOPLE,
  'an interrupt ends a running command': PEOPLE,
  'prompts that come meanwhile are answered in order': TURNS,
  'a skipped question is said to be one': PEOPLE,
  'the beginning of each prompt is that of the last one': TURNS,
};

const LONG: Record<string, Applicable> = {
  'an MCP server that is down is named, and the other works': SERVICE,
  'an MCP call that fails is a result': SERVICE,
  'an MCP server that comes back is there in the next turn': TURNS,
  'a run of an automation knows that nobody is there': SERVICE,
  'a run of an automation rides out an outage': SERVICE,
  'a goal is worked on until it is reached': SERVICE,
  'two subagents, side by side': SERVICE,
  'a background process says when it ends': TURNS,
  'a long turn is compacted, and its prompt stays': COMPACTION,
  'the task list outlives a compaction': COMPACTION,
};

/** Every scenario of the harness by its name. */
export const APPLICABLE: Readonly<Record<string, Applicable>> = { ...ORDER, ...PROVIDER, ...TOOLS, ...LONG };
