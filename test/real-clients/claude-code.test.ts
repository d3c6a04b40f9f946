import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { UPSTREAMS } from '../gateway/harness.ts';
import { buildClaudeEnvironment } from './claude-code-settings.ts';
import { CLIENT_UPSTREAMS, runClient } from './run-client.ts';
import { FINAL, PROOFS, callId, isStreamed, readConversation, scriptModel } from './scripted-model.ts';
import { PASSED, PROMPT, RIGHT, WRONG, makeTask } from './task.ts';
import type { Task } from './task.ts';
import { startWatchedGateway } from './watched-gateway.ts';
import type { WatchedGateway } from './watched-gateway.ts';

// A name that the client knows, so that it uses thinking and other features of its own models.
const ALIAS = 'claude-sonnet-4-5';

let gateway: WatchedGateway;
let task: Task;
beforeEach(() => {
  task = makeTask();
});
afterEach(async () => {
  task.close();
  await gateway.close();
});

async function runClaudeCode(model: string) {
  const run = await runClient(
    'clients/node_modules/@anthropic-ai/claude-code/cli-wrapper.cjs',
    ['--print', PROMPT, '--output-format=stream-json', '--verbose', '--dangerously-skip-permissions'],
    task,
    { environment: buildClaudeEnvironment(gateway, model) },
  );
  const result = run.events.find(({ type }) => type === 'result');
  const working = gateway.upstream.requests.filter((request) => readConversation(request).tools.length > 0);
  const last = working.at(-1);
  if (last === undefined) throw new Error(`nothing came through the gateway: ${run.stderr}`);
  return { ...run, result, working, last, results: readConversation(last).results };
}

describe.each([
  ...CLIENT_UPSTREAMS.map((format) => [format, format, UPSTREAMS[format]] as const),
  ['messages (passed through)', 'messages', 'same/small'] as const,
])('Claude Code over a %s upstream', (_, format, model) => {
  beforeEach(async () => {
    gateway = await startWatchedGateway({
      models: { [ALIAS]: [model] },
      providers: (baseUrl) => ({
        same: { format: 'messages', baseUrl, apiKey: 'upstream-secret', passThrough: true },
      }),
    });
  });

  it.each([
    ['it knows', ALIAS],
    ['it does not know', undefined],
  ])('mends a program with a model that %s', async (_known, alias) => {
    const file = (name: string) => join(task.folder, name);
    gateway.upstream.script(
      scriptModel([
        [
          { name: 'Read', arguments: { file_path: file('sum.mjs') } },
          { name: 'Read', arguments: { file_path: file('diagram.png') } },
        ],
        [{ name: 'Edit', arguments: { file_path: file('sum.mjs'), old_string: WRONG, new_string: RIGHT } }],
        [
          {
            name: 'Bash',
            arguments: { command: `'${process.execPath}' check.mjs`, description: 'Check' },
          },
        ],
      ]),
    );
    const run = await runClaudeCode(alias ?? model);

    expect(run.result).toMatchObject({ subtype: 'success', is_error: false, result: FINAL });
    expect(run.reachedFor).toEqual([]);
    expect(gateway.complaints).toEqual([]);
    expect(gateway.answered.length).toBeGreaterThanOrEqual(4);
    expect(new Set(gateway.answered)).toEqual(new Set(['POST /v1/messages 200']));
    expect(run.working.map(isStreamed)).toEqual([true, true, true, true]);

    expect(task.read('sum.mjs')).toBe(`${RIGHT}\n`);
    expect(task.read('passed.txt')).toBe(PASSED);
    expect(run.results.get(callId(0, 0))).toContain(WRONG);
    expect(run.results.get(callId(2, 0))).toContain(PASSED);
    const sent = JSON.stringify(run.last.body);
    expect(sent).toContain(task.image('diagram.png'));
    expect(sent).toContain(PROOFS[format]);
  });
});
