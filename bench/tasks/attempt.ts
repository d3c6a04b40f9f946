import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { ApiError } from '../../clients/typescript/index.ts';
import type { Client, EventEnvelope, Usage } from '../../clients/typescript/index.ts';
import type { Task, TaskFile } from './task.ts';

/** The built-in model, which runs the lines of its prompt: no network and no key. */
export const SCRIPT = 'script/demo';

/** The solver: a model that reads the instruction, the task's own solution, or nobody. */
export type Solver = { model: string } | 'reference' | 'nobody';

export type Result = {
  isSolved: boolean;
  /** of the solver, without the verifier */
  calls: number;
  input: number;
  output: number;
  seconds: number;
  /** why the session of the solver stopped */
  stop: string;
  /** what the verifier printed */
  printed: string;
};

/** Where the volume is mounted in a sandbox. */
const WORKSPACE = '/workspace';
/** Foreground commands may take this long, in seconds. */
const LONGEST_COMMAND = 600;
const TOOLS = [
  { type: 'agent_toolset' as const, defaultConfig: { permissionPolicy: { type: 'always_allow' as const } } },
];
const PROMPT = `You work alone on a task in ${WORKSPACE}, the current folder. Nobody answers questions. Finish the task, check the result yourself, then stop.`;

/**
 * A text of the task with its places in a sandbox instead of those in a container of its own: the working directory is
 * the workspace, and everything else of the task is in one folder of it.
 */
function moveText(text: string, { workdir }: Task, folder: string): string {
  const places = [workdir, '/tests', '/solution', '/logs'].map((place) =>
    place.replaceAll(/[^\w/-]/g, String.raw`\$&`),
  );
  // Places come from task.toml and the Dockerfile on this machine, not from a caller.
  const pattern = new RegExp(`(?<![\\w./-])(?:${places.join('|')})(?![\\w-])`, 'g');
  return text.replaceAll(pattern, (place) => (place === workdir ? WORKSPACE : `${WORKSPACE}/${folder}${place}`));
}

type Place = { client: Client; agentId: string; subjectId: string; task: Task; folder: string };

/** Repeats what may be repeated while the server asks for it, such as while a volume is being prepared. */
async function retry<T>(run: () => Promise<T>, tries = 20): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (tries <= 1 || !(error instanceof ApiError) || !error.retryable) throw error;
    await delay((error.retryAfterSeconds ?? 1) * 1000);
    return retry(run, tries - 1);
  }
}

/** Writes files below a folder of the volume; scripts get the places in the sandbox. */
async function placeFiles(place: Place, files: readonly TaskFile[], target: string): Promise<void> {
  for (const { path, content } of files) {
    const isScript = path.endsWith('.sh') || path.endsWith('.py');
    const bytes = isScript ? Buffer.from(moveText(content.toString('utf8'), place.task, place.folder)) : content;
    const body = {
      path: target === '' ? path : `${target}/${path}`,
      encoding: 'base64' as const,
      content: bytes.toString('base64'),
      overwrite: true,
    };
    await retry(() => place.client.writeFile(place.agentId, place.subjectId, body));
  }
}

type Turn = { events: EventEnvelope[]; stop: string; usage: Usage };

/** Sends a prompt to a new session and waits for the end of its turn; after `seconds` the turn is interrupted. */
async function runTurn(place: Place, text: string, seconds: number, preview: boolean): Promise<Turn> {
  const { client, agentId, subjectId } = place;
  const session = await client.createSession({ agentId, subjectId, title: place.task.name, preview });
  const send = (event: Parameters<Client['sendEvents']>[1]['events'][number]) =>
    client.sendEvents(session.id, { events: [event] });
  await send({ type: 'user.message', content: [{ type: 'text', text }] });
  const timer = setTimeout(() => void send({ type: 'user.interrupt' }).catch(() => undefined), seconds * 1000);
  const events: EventEnvelope[] = [];
  try {
    for await (const event of client.followEvents(session.id, { after: 0 })) {
      events.push(event);
      const { payload } = event;
      if (payload.type !== 'session.status_idle' || payload.stop_reason.type === 'requires_action') continue;
      return {
        events,
        stop: payload.interrupted === true ? 'timeout' : payload.stop_reason.type,
        usage: payload.usage ?? {},
      };
    }
  } finally {
    clearTimeout(timer);
  }
  throw new Error('The stream of the session ended.');
}

async function readReward(place: Place): Promise<number | undefined> {
  const path = `${place.folder}/logs/verifier/reward.txt`;
  try {
    return Number((await place.client.readFile(place.agentId, place.subjectId, { path })).content.trim());
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  }
}

type Command = { command: string; seconds: number };

const TRIES = 5;

/** Text of the result of the first call of a turn. */
function readResult(events: readonly EventEnvelope[]): string {
  const payload = events.find(({ type }) => type === 'agent.tool_result')?.payload;
  return payload?.type === 'agent.tool_result' ? payload.content.map((block) => block.text).join('') : '';
}

/**
 * Lets the built-in model run a command, in a session of its own; it ignores the rest of the prompt. A command that did
 * not run, because no sandbox could be started, is repeated. Throws if none could be.
 */
async function runCommand(place: Place, { command, seconds }: Command, preview: boolean, rest = ''): Promise<Turn> {
  const timeout = Math.min(seconds, LONGEST_COMMAND);
  const text = `${rest}call terminal ${JSON.stringify({ command, timeout })}`;
  let last = '';
  for (let tries = 0; tries < TRIES; tries += 1) {
    const turn = await runTurn(place, text, timeout + 60, preview);
    last = readResult(turn.events);
    if (/"exit_code":\d/.test(last) || turn.stop === 'timeout') return turn;
  }
  throw new Error(`The command did not run: ${last}`);
}

/** Runs `test.sh` in a sandbox on the same volume. The reward counts, and without one the exit code. */
async function verify(place: Place): Promise<{ isSolved: boolean; printed: string }> {
  const { client, agentId, folder, task } = place;
  await placeFiles(place, task.tests, `${folder}/tests`);
  // A new version of the agent: the model under test must not run the verifier.
  await client.patchAgent(agentId, { modelName: SCRIPT });
  const command = `mkdir -p ${folder}/logs/verifier; bash ${folder}/tests/test.sh`;
  const { events } = await runCommand(place, { command, seconds: task.verifierTimeout }, true);
  const printed = readResult(events);
  const reward = await readReward(place);
  return { isSolved: reward === undefined ? printed.includes('"exit_code":0,') : reward >= 1, printed };
}

/** The turn of the solver. */
async function solve(place: Place, solver: Solver): Promise<Turn> {
  const { task, folder } = place;
  const instruction = moveText(task.instruction, task, folder);
  if (solver !== 'reference') return runTurn(place, instruction, task.agentTimeout, false);
  await placeFiles(place, task.solution, `${folder}/solution`);
  const command = `bash ${WORKSPACE}/${folder}/solution/solve.sh`;
  return runCommand(place, { command, seconds: task.agentTimeout }, false, `${instruction}\n\n`);
}

/**
 * One attempt through the API alone: an agent of its own, its files by the files API, the instruction as the prompt of
 * a session, then the verifier in a second session on the same volume. `sandboxClass` chooses an image on Kubernetes.
 */
export async function attempt(
  client: Client,
  task: Task,
  solver: Solver,
  sandboxClass: string | undefined,
): Promise<Result> {
  const agent = await client.createAgent({
    name: `task-${task.name}`.slice(0, 256),
    modelName: typeof solver === 'string' ? SCRIPT : solver.model,
    systemPrompt: PROMPT,
    skills: [],
    tools: TOOLS,
    ...(sandboxClass === undefined ? {} : { environment: { sandboxClass } }),
  });
  // The solver cannot guess the folder of the verifier.
  const make = (): Place => ({ client, agentId: agent.id, subjectId: 'solver', task, folder: `.task-${randomUUID()}` });
  try {
    const place = make();
    await placeFiles(place, task.files, '');
    const started = performance.now();
    const { stop, usage } = await solve(place, solver);
    const seconds = (performance.now() - started) / 1000;
    const { calls = 0, input = 0, output = 0 } = usage;
    return { ...(await verify(make())), calls, input, output, seconds, stop };
  } finally {
    await client.deleteAgent(agent.id);
  }
}
