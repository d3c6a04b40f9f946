import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { UPSTREAMS } from '../gateway/harness.ts';
import { writeCodexSettings } from './codex-settings.ts';
import { CLIENT_UPSTREAMS, runClient } from './run-client.ts';
import { FINAL, PROOFS, callId, isStreamed, readConversation, scriptModel } from './scripted-model.ts';
import type { Step } from './scripted-model.ts';
import { PASSED, PROMPT, RIGHT, WRONG, makeTask } from './task.ts';
import type { Task } from './task.ts';
import { startWatchedGateway } from './watched-gateway.ts';
import type { WatchedGateway } from './watched-gateway.ts';

let gateway: WatchedGateway;
let task: Task;
beforeEach(async () => {
  gateway = await startWatchedGateway({});
  task = makeTask();
});
afterEach(async () => {
  task.close();
  await gateway.close();
});

const execute = (cmd: string) => ({ name: 'exec_command', arguments: { cmd, yield_time_ms: 30_000 } });
const look = (): Step => [
  execute('cat sum.mjs'),
  { name: 'view_image', arguments: { path: join(task.folder, 'diagram.png') } },
];
const check = (): Step => [execute(`'${process.execPath}' check.mjs`)];
const PATCH = ['*** Begin Patch', '*** Update File: sum.mjs', '@@', `-${WRONG}`, `+${RIGHT}`, '*** End Patch'].join(
  '\n',
);

async function runCodex(model: string, facts: 'with facts' | 'without facts') {
  writeCodexSettings({ home: task.home, url: gateway.url, model, facts });
  const run = await runClient(
    'clients/node_modules/@openai/codex/bin/codex.js',
    [
      'exec',
      '--json',
      '--skip-git-repo-check',
      '--dangerously-bypass-approvals-and-sandbox',
      '--image=sketch.png',
      '--',
      PROMPT,
    ],
    task,
    { environment: { CODEX_HOME: task.home, CAPSTAN_API_KEY: gateway.key } },
  );
  const messages = run.events.flatMap(({ item }) => {
    const { type, text } = (item ?? {}) as { type?: string; text?: string };
    return type === 'agent_message' ? [text] : [];
  });
  const last = gateway.upstream.requests.at(-1);
  if (last === undefined) throw new Error(`nothing came through the gateway: ${run.stderr}`);
  return { ...run, messages, last, results: readConversation(last).results };
}

type Run = Awaited<ReturnType<typeof runCodex>>;

/** Conditions that hold after every run. */
function expectCleanRun(run: Run, turns: number): void {
  expect(run.messages.at(-1)).toBe(FINAL);
  expect(run.reachedFor).toEqual([]);
  expect(gateway.answered).toEqual(Array.from({ length: turns }, () => 'POST /v1/responses 200'));
  expect(gateway.complaints).toEqual([]);
  expect(gateway.upstream.requests.map(isStreamed)).toEqual(Array.from({ length: turns }, () => true));
}

function expectChecked(run: Run, checked: number): void {
  expect(task.read('passed.txt')).toBe(PASSED);
  expect(run.results.get(callId(0, 0))).toContain(WRONG);
  expect(run.results.get(callId(checked, 0))).toContain(PASSED);
}

/** The image of the question, the one that a tool opened, and the model's own reasoning. */
function expectSent(run: Run, format: keyof typeof PROOFS): void {
  const sent = JSON.stringify(run.last.body);
  expect(sent).toContain(task.image('sketch.png'));
  expect(sent).toContain(task.image('diagram.png'));
  expect(sent).toContain(PROOFS[format]);
}

describe.each(CLIENT_UPSTREAMS)('Codex CLI over a %s upstream', (format) => {
  const model = UPSTREAMS[format];

  it('mends a program with a model that it has the facts of: custom and namespace tools', async () => {
    gateway.upstream.script(
      scriptModel([
        look(),
        [{ name: 'apply_patch', arguments: { input: PATCH } }],
        [{ name: 'multi_agent_v1__close_agent', arguments: { target: 'nobody' } }],
        check(),
      ]),
    );
    const run = await runCodex(model, 'with facts');
    expect(task.read('sum.mjs')).toBe(`${RIGHT}\n`);
    expectCleanRun(run, 5);
    expectChecked(run, 3);
    expect(run.results.get(callId(1, 0))).toContain('M sum.mjs');
    // Printed by the tool itself, so the call reached the namespace.
    expect(run.results.get(callId(2, 0))).toContain('invalid agent id nobody');
    expectSent(run, format);
  });

  it('mends a program with a model that it does not know', async () => {
    const edit = execute(`sed -i 's/a - b/a + b/' sum.mjs`);
    gateway.upstream.script(scriptModel([look(), [edit], check()]));
    const run = await runCodex(model, 'without facts');
    expect(task.read('sum.mjs')).toBe(`${RIGHT}\n`);
    expectCleanRun(run, 4);
    expectChecked(run, 2);
    expectSent(run, format);
  });
});
