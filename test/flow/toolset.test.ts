import { afterAll, beforeAll, expect, it } from 'vitest';
import { allowAll, clarifyResult, textOf } from '../support/chat.ts';
import { callTool, readChat, say, toolNames } from '../support/service-model.ts';
import { startService } from '../support/service.ts';
import type { Service } from '../support/service.ts';
import { send, sendJson, startSite } from '../support/site.ts';
import type { Site } from '../support/site.ts';

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

let service: Service;
let site: Site;
beforeAll(async () => {
  site = await startSite();
  site.serve('/search', sendJson({ results: [{ url: `${site.url}/page`, title: 'Found', content: 'it' }] }));
  site.serve('/page', send('text/html', '<html><body><article><p>All the terms are here.</p></article></body></html>'));
  service = await startService({ webSearch: { backend: 'searxng', baseUrl: site.url } });
});
afterAll(async () => {
  await service.close();
  site.close();
});

it('every tool of every toolset runs in a turn, called by the model', async () => {
  const skill = '---\nname: brew\ndescription: Makes coffee\n---\nGrind first.';
  const python = 'from capstan_tools import read_file\nprint(6 * 7)';
  /** toolset, tool, the model's input, the result that the model reads */
  const steps: [string, string, object, string][] = [
    ['file', 'write_file', { path: 'a.txt', content: 'one\ntwo\n' }, '"bytes_written":8'],
    ['file', 'patch', { mode: 'replace', path: 'a.txt', old_string: 'two', new_string: 'three' }, '"success":true'],
    ['file', 'search_files', { pattern: 'thr.e' }, '"total_count":1'],
    ['file', 'read_file', { path: 'a.txt' }, '2|three'],
    ['terminal', 'terminal', { command: 'wc -l < a.txt' }, '"output":"2'],
    ['terminal', 'process', { action: 'list' }, '"processes":[]'],
    ['code_execution', 'execute_code', { code: python }, '42'],
    ['todo', 'todo', { todos: [{ id: '1', content: 'brew', status: 'pending' }] }, '"content":"brew"'],
    ['memory', 'memory', { action: 'add', target: 'user', content: 'Likes tea.' }, '"success":true'],
    ['session_search', 'session_search', { limit: 3 }, '"mode":"browse"'],
    ['skills', 'skill_manage', { action: 'create', name: 'brew', content: skill }, '"success":true'],
    ['skills', 'skills_list', {}, '"name":"brew"'],
    ['skills', 'skill_view', { name: 'brew' }, 'Grind first.'],
    ['web', 'web_search', { query: 'terms' }, '"title":"Found"'],
    ['web', 'web_extract', { urls: [`${site.url}/page`] }, 'All the terms are here.'],
    ['vision', 'vision_analyze', { image_url: `data:image/png;base64,${PNG}`, question: 'What?' }, 'a red dot'],
    ['clarify', 'clarify', { question: 'Which?' }, '"user_response":"That one"'],
    ['delegation', 'delegate_task', { goal: 'Say hello.' }, 'hello from below'],
  ];
  /** the tool's own model call */
  const inner: Record<string, string> = { vision_analyze: 'a red dot', delegate_task: 'hello from below' };
  service.model.play(
    ...steps.flatMap(([, name, input]) => [
      callTool(name, input),
      ...(inner[name] === undefined ? [] : [say(inner[name])]),
    ]),
    say('done'),
  );
  const tools = [{ ...allowAll[0], configs: [{ name: 'delegation', enabled: true }] }];
  const chat = await service.api.openChat(await service.api.createAgent({ tools }));
  await chat.prompt('Try them all.');
  const before = steps.findIndex(([, name]) => name === 'clarify');
  for (let count = 0; count < before; count += 1) await chat.next('agent.tool_result');
  const question = await chat.next('agent.clarify_request');
  await chat.send(clarifyResult(question.id, 'That one'));
  const isEnd = (frame: { payload: Record<string, unknown> }) =>
    JSON.stringify(frame.payload['stop_reason']) === '{"type":"end_turn"}';
  await chat.next(isEnd);
  chat.close();

  const events = (await chat.list()).filter(({ payload }) => payload['thread_id'] === undefined);
  // The event of a question is its request, and its result is the answer.
  const told = steps.filter(([, name]) => name !== 'clarify');
  const results = events.filter(({ type }) => type === 'agent.tool_result');
  expect(results.map(({ payload }) => [payload['name'], payload['is_error']])).toEqual(
    told.map(([, name]) => [name, false]),
  );
  for (const [index, [, name, , text]] of told.entries()) {
    expect([name, textOf(results[index])]).toEqual([name, expect.stringContaining(text)]);
  }
  expect(readChat(service.model.requests.at(-1)!)).toContainEqual('tool: {"user_response":"That one"}');
  const uses = events.filter(({ type }) => type === 'agent.tool_use');
  expect(uses.map(({ payload }) => [payload['toolset'], payload['name'], payload['evaluated_permission']])).toEqual(
    told.map(([toolset, name]) => [toolset, name, 'allow']),
  );
  expect(toolNames(service.model.requests[0]!).toSorted()).toEqual(steps.map(([, name]) => name).toSorted());
}, 120_000);

it('a call is shown while it is written, and once in the history', async () => {
  const call = callTool('write_file', { path: 'long.txt', content: 'x'.repeat(500) });
  service.model.play({ ...call, chunkBytes: 100, gapMs: 2 }, say('ok'));
  const chat = await service.api.openChat(await service.api.createAgent({ tools: allowAll }));
  await chat.run('Write it.');
  chat.close();
  const uses = chat.frames.filter(({ type }) => type === 'agent.tool_use');
  const durable = uses.filter(({ status }) => status !== 'streaming');
  expect(uses[0]).toMatchObject({ status: 'streaming', payload: { type: 'agent.tool_use', name: 'write_file' } });
  expect(durable).toHaveLength(1);
  expect(durable[0]?.payload['input']).toEqual({ path: 'long.txt', content: 'x'.repeat(500) });
  const events = await chat.list();
  expect(events.filter(({ type }) => type === 'agent.tool_use')).toEqual(durable);
  expect(events.map(({ status }) => status)).not.toContain('streaming');
  expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_event, index) => index + 1));
});
