// Lets a model solve tasks in Harbor's format through the API, and counts the solved ones. Each task has an instruction,
// files, a reference solution and a verifier; see docs/measure-models.md.
// Without MODEL it checks the tasks themselves: each reference solution must pass its verifier, and doing nothing must
// not. Exit code 1 if one does not hold, or if the model leaves a task unsolved.
// Needs: bubblewrap and python3, unless CAPSTAN_URL names a server.
// MODEL=provider/model; CAPSTAN_CONFIG with its provider, or CAPSTAN_URL and CAPSTAN_API_KEY of a server that has it.
// TASKS=folder of other tasks; TASK=text runs those whose name contains the text; SANDBOX_CLASS=name on Kubernetes.
import { fileURLToPath } from 'node:url';
import { buildClient } from '../../clients/typescript/index.ts';
import { printMachine } from '../support/figures.ts';
import { startBenchServer } from '../support/server.ts';
import { attempt } from './attempt.ts';
import type { Result } from './attempt.ts';
import { readTasks } from './task.ts';
import type { Task } from './task.ts';

const {
  MODEL,
  TASK = '',
  TASKS = fileURLToPath(new URL('tasks', import.meta.url)),
  SANDBOX_CLASS,
  CAPSTAN_URL,
  CAPSTAN_API_KEY,
} = process.env;

async function connect() {
  if (CAPSTAN_URL !== undefined) {
    return {
      client: buildClient({ baseUrl: CAPSTAN_URL, apiKey: CAPSTAN_API_KEY ?? '' }),
      close: async () => undefined,
    };
  }
  // Keys of providers are in the environment, under names that the configuration chooses.
  const server = await startBenchServer({ ...process.env } as Record<string, string>);
  return { client: buildClient({ baseUrl: server.url, apiKey: server.key }), close: () => server.close() };
}

const mark = ({ isSolved }: Result) => (isSolved ? 'solved' : '**not solved**');

/** Measures the model: one attempt. Returns whether it solved the task. */
async function measure(client: Awaited<ReturnType<typeof connect>>['client'], task: Task, model: string) {
  const result = await attempt(client, task, { model }, SANDBOX_CLASS);
  const { calls, input, output, seconds, stop } = result;
  console.log(`| ${task.name} | ${mark(result)} | ${stop} | ${calls} | ${input} | ${output} | ${seconds.toFixed(1)} |`);
  return result.isSolved;
}

/** Checks the task: its solution passes, and doing nothing does not. */
async function check(client: Awaited<ReturnType<typeof connect>>['client'], task: Task) {
  const reference = await attempt(client, task, 'reference', SANDBOX_CLASS);
  const nobody = await attempt(client, task, 'nobody', SANDBOX_CLASS);
  console.log(`| ${task.name} | ${mark(reference)} | ${nobody.isSolved ? '**solved**' : 'not solved'} |`);
  if (!reference.isSolved) console.error(reference.printed);
  return reference.isSolved && !nobody.isSolved;
}

printMachine();
const { client, close } = await connect();
const tasks = readTasks(TASKS).filter(({ name }) => name.includes(TASK));
console.log(
  MODEL === undefined
    ? '| Task | Reference solution | Doing nothing |\n|---|---|---|'
    : `${MODEL}\n\n| Task | Outcome | Stop reason | Model calls | Tokens in | Tokens out | Seconds |\n|---|---|---|---|---|---|---|`,
);
let held = 0;
let leftOut = 0;

async function runTask(task: Task): Promise<void> {
  if (task.needsImage !== undefined && SANDBOX_CLASS === undefined) {
    leftOut += 1;
    console.log(`| ${task.name} | left out: needs an image of its own (${task.needsImage}) |`);
    return;
  }
  try {
    const holds = MODEL === undefined ? await check(client, task) : await measure(client, task, MODEL);
    held += holds ? 1 : 0;
  } catch (error) {
    console.log(`| ${task.name} | **failed**: ${String(error)} |`);
  }
}

try {
  for (const task of tasks) await runTask(task);
} finally {
  await close();
}
const run = tasks.length - leftOut;
console.log(
  MODEL === undefined
    ? `${held} of ${run} solved by the reference and not by doing nothing, ${leftOut} left out`
    : `${held} of ${run} solved, ${leftOut} left out`,
);
process.exitCode = held === run && run > 0 ? 0 : 1;
