import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { attempt } from '../../bench/tasks/attempt.ts';
import { readTask, readTasks } from '../../bench/tasks/task.ts';
import { buildClient } from '../../clients/typescript/index.ts';
import type { Client } from '../../clients/typescript/index.ts';
import { startServer } from '../cli/server.ts';
import type { CliServer } from '../cli/server.ts';
import { makeScratch } from '../support/scratch.ts';
import { callTool, say, startServiceModel } from '../support/service-model.ts';
import type { ServiceModel } from '../support/service-model.ts';

const FOLDER = fileURLToPath(new URL('../../bench/tasks/tasks', import.meta.url));

const scratch = makeScratch('tasks');
let model: ServiceModel;
let server: CliServer;
let client: Client;
beforeAll(async () => {
  model = await startServiceModel();
  const config = join(scratch, 'capstan.yaml');
  const provider = { format: 'chat-completions', baseUrl: model.url, apiKey: 'k', models: [{ id: 'small' }] };
  writeFileSync(config, JSON.stringify({ providers: { acme: provider } }));
  server = await startServer({ CAPSTAN_CONFIG: config });
  const apiKey = readFileSync(join(server.dataDir, 'api-key'), 'utf8').trim();
  client = buildClient({ baseUrl: server.url, apiKey });
});
afterAll(async () => {
  await server.close();
  await model.close();
  rmSync(scratch, { recursive: true, force: true });
});

it('reads twenty tasks that need no image of their own', () => {
  const tasks = readTasks(FOLDER);
  expect(tasks).toHaveLength(20);
  for (const task of tasks) {
    expect(task).toMatchObject({ needsImage: undefined, workdir: '/app', agentTimeout: 900 });
    expect(task.files.length).toBeGreaterThan(0);
    expect(task.solution.map(({ path }) => path)).toContain('solve.sh');
    expect(task.tests.map(({ path }) => path)).toContain('test.sh');
  }
});

describe.each(['paginate-last-page', 'restore-files'])('the task %s', (name) => {
  const task = readTask(`${FOLDER}/${name}`);

  it('is solved by its reference solution, and not by doing nothing', async () => {
    const reference = await attempt(client, task, 'reference', undefined);
    expect(reference).toMatchObject({ isSolved: true, stop: 'end_turn' });
    const nobody = await attempt(client, task, 'nobody', undefined);
    expect(nobody).toMatchObject({ isSolved: false, stop: 'end_turn' });
  });
});

it('measures a model, which gets the instruction without the solution', async () => {
  const task = readTask(`${FOLDER}/paginate-last-page`);
  const code = [
    'def paginate(items, size):',
    '    if size < 1:',
    '        raise ValueError(size)',
    '    return [items[at : at + size] for at in range(0, len(items), size)]',
    '',
  ].join('\n');
  model.play(callTool('write_file', { path: 'pages.py', content: code }), say('Mended.'));
  const result = await attempt(client, task, { model: 'acme/small' }, undefined);
  expect(result).toMatchObject({ isSolved: true, calls: 2, stop: 'end_turn' });
  const [first] = model.requests;
  expect(first?.rawBody).toContain('The last page is lost');
  expect(first?.rawBody).not.toContain('solve.sh');
});
