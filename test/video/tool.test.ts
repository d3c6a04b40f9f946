import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findToolsetPolicy } from '../../src/agents/loop/tool-calls/policy.ts';
import { buildGenerateVideoTool } from '../../src/agents/tools/generate-video.ts';
import type { Tool, ToolContext } from '../../src/agents/tools/tool.ts';
import { buildVideoGenerator } from '../../src/video/tool-client.ts';
import { RenderError } from '../../src/video/engines/engine.ts';
import { findLedgerFaults, startVideo } from './harness.ts';
import type { TestVideo } from './harness.ts';
import { SCRIPTED, openScriptedEngine, untilAborted } from './scripted-engine.ts';

describe('generate_video', () => {
  const engine = openScriptedEngine();
  let video: TestVideo;
  let tool: Tool;
  let organizationId: string;
  beforeAll(async () => {
    video = await startVideo({ engines: [engine] });
    tool = buildGenerateVideoTool(buildVideoGenerator(() => Promise.resolve(video.ports), { base: video.url }));
    await video.call('GET', '/api/credits');
    const { rows } = await video.ports.db.query<{ id: string }>(`SELECT id FROM organizations WHERE name = 'acme'`);
    organizationId = rows[0]!.id;
  });
  afterAll(() => video.close());

  const run = async (input: Record<string, unknown>, callId: string, signal = new AbortController().signal) => {
    const outcome = await tool.run(input, { organizationId, callId, signal } as ToolContext);
    const answer = JSON.parse(outcome.content) as Record<string, unknown>;
    answer['isError'] = outcome.isError;
    return answer;
  };
  const credits = async () => (await video.call('GET', '/api/credits')).body['data'];

  it('is off unless its toolset is enabled by name', () => {
    const config = (configs: { name: 'video'; enabled: boolean }[]) =>
      findToolsetPolicy([{ type: 'agent_toolset', configs }], 'video').enabled;
    expect(config([])).toBe(false);
    expect(config([{ name: 'video', enabled: true }])).toBe(true);
  });

  it('waits for the video and gives its page, once for a call however often it is sent', async () => {
    const input = { prompt: 'A lighthouse', model: SCRIPTED, aspect_ratio: '1:1', duration: '8s' };
    const made = await run(input, 'evt_1');
    expect(made).toMatchObject({ success: true, isError: false, duration: '8s', width: 720, height: 720 });
    expect((await fetch(String(made['share_url']))).status).toBe(200);
    expect((await fetch(String(made['video_url']))).status).toBe(200);
    expect((await run(input, 'evt_1'))['id']).toBe(made['id']);
    expect(await credits()).toEqual({ balance: 980, reserved: 0 });
  });

  it('reports the error to the model, and charges nothing', async () => {
    expect(await run({ prompt: ' ' }, 'evt_2')).toMatchObject({ isError: true });
    expect(await run({ prompt: 'x', model: 'none' }, 'evt_3')).toMatchObject({
      isError: true,
      error: 'modelName: there is no such model.',
    });
    engine.script = () => Promise.reject(new RenderError('moderation', 'The engine refuses the prompt.'));
    expect(await run({ prompt: 'x' }, 'evt_4')).toMatchObject({
      isError: true,
      error: 'moderation: The engine refuses the prompt.',
    });
    expect(await credits()).toEqual({ balance: 980, reserved: 0 });
  });

  it('cancels the video when it is interrupted', async () => {
    const before = engine.requests.length;
    engine.script = (_request, context) => untilAborted(context.signal);
    const abort = new AbortController();
    const running = run({ prompt: 'x' }, 'evt_5', abort.signal);
    await expect.poll(() => engine.requests.length).toBe(before + 1);
    abort.abort(new Error('interrupted'));
    await expect(running).rejects.toThrow('interrupted');
    expect(await credits()).toEqual({ balance: 980, reserved: 0 });
    expect(await findLedgerFaults(video.ports)).toEqual([]);
  });
});
