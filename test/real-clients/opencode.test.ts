import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { UPSTREAMS, UPSTREAM_FORMATS } from '../gateway/harness.ts';
import { runClient } from './run-client.ts';
import { FINAL, callId, readConversation, scriptModel } from './scripted-model.ts';
import { PASSED, PROMPT, RIGHT, WRONG, makeTask } from './task.ts';
import type { Task } from './task.ts';
import { startWatchedGateway } from './watched-gateway.ts';
import type { WatchedGateway } from './watched-gateway.ts';

const PAGE = readFileSync(new URL('../../docs/clients/opencode.md', import.meta.url), 'utf8');
const PROGRAM = `opencode/node_modules/opencode-${process.platform}-${process.arch}/bin/opencode`;

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

/** Sets the client up as in the docs, for this model, this gateway and one of its formats. */
function writeSettings(model: string, npm: string): void {
  const [, settings = ''] = /\n```json\n(.*?)\n```/s.exec(PAGE) ?? [];
  const written = settings
    .replaceAll('acme/large', model)
    .replaceAll('http://127.0.0.1:8080', gateway.url)
    .replaceAll('@ai-sdk/openai-compatible', npm);
  writeFileSync(join(task.folder, 'opencode.json'), written);
}

async function runOpencode(model: string, npm: string) {
  writeSettings(model, npm);
  const run = await runClient(
    PROGRAM,
    ['run', '--format=json', '--pure', '--auto', '--file=sketch.png', '--', PROMPT],
    task,
    {
      environment: {
        CAPSTAN_API_KEY: gateway.key,
        OPENCODE_DISABLE_MODELS_FETCH: '1',
        OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
        OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
        // It would install the library for plugins.
        npm_config_offline: 'true',
      },
    },
  );
  const texts = run.events.flatMap(({ type, part }) => (type === 'text' ? [(part as { text?: string }).text] : []));
  const working = gateway.upstream.requests.filter((request) => readConversation(request).tools.length > 0);
  const last = working.at(-1);
  if (last === undefined)
    throw new Error(`nothing came through the gateway: ${run.stderr} ${JSON.stringify(run.events)}`);
  return { ...run, texts, working, last, results: readConversation(last).results };
}

const CLIENTS = [
  ['@ai-sdk/openai-compatible', '/v1/chat/completions'],
  ['@ai-sdk/openai', '/v1/responses'],
  ['@ai-sdk/anthropic', '/v1/messages'],
] as const;

describe.each(UPSTREAM_FORMATS)('opencode over a %s upstream', (format) => {
  it.each(CLIENTS)('mends a program with %s', async (npm, route) => {
    const file = (name: string) => join(task.folder, name);
    gateway.upstream.script(
      scriptModel([
        [
          { name: 'read', arguments: { filePath: file('sum.mjs') } },
          { name: 'read', arguments: { filePath: file('diagram.png') } },
        ],
        [{ name: 'edit', arguments: { filePath: file('sum.mjs'), oldString: WRONG, newString: RIGHT } }],
        [{ name: 'bash', arguments: { command: `'${process.execPath}' check.mjs`, description: 'Check' } }],
      ]),
    );
    const run = await runOpencode(UPSTREAMS[format], npm);

    expect(run.texts.at(-1)).toBe(FINAL);
    expect(run.reachedFor).toEqual([]);
    expect(gateway.complaints).toEqual([]);
    expect(new Set(gateway.answered)).toEqual(new Set([`POST ${route} 200`]));
    expect(run.working).toHaveLength(4);

    expect(task.read('sum.mjs')).toBe(`${RIGHT}\n`);
    expect(task.read('passed.txt')).toBe(PASSED);
    expect(run.results.get(callId(0, 0))).toContain(WRONG);
    expect(run.results.get(callId(2, 0))).toContain(PASSED);
    const sent = JSON.stringify(run.last.body);
    expect(sent).toContain(task.image('sketch.png'));
    expect(sent).toContain(task.image('diagram.png'));
  });
});
