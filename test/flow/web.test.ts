import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { allow, allowAll, textOf } from '../support/chat.ts';
import { buildArticlePage } from '../support/pages.ts';
import { callTool, readChat, say, toolNames } from '../support/service-model.ts';
import { startService } from '../support/service.ts';
import type { Service } from '../support/service.ts';
import { redirectTo, send, sendJson, startSite } from '../support/site.ts';
import type { Site } from '../support/site.ts';

let service: Service;
let site: Site;
beforeAll(async () => {
  site = await startSite();
  site.serve(
    '/search',
    sendJson({ results: [{ url: `${site.url}/terms`, title: 'The terms', content: 'All of them' }] }),
  );
  site.serve('/terms', send('text/html', buildArticlePage(5)));
  site.serve('/long', send('text/html', buildArticlePage(100)));
  site.serve('/away', redirectTo('http://169.254.169.254/latest/meta-data/'));
  service = await startService({ webSearch: { backend: 'searxng', baseUrl: site.url } });
});
afterAll(async () => {
  await service.close();
  site.close();
});

const parse = (message: string | undefined) =>
  JSON.parse((message ?? '').replace(/^tool: /, '')) as Record<string, never>;

describe('a turn on the web', () => {
  it('searches, reads a result, and continues in the file of a long page', async () => {
    const chat = await service.api.openChat(await service.api.createAgent({ tools: allowAll }));
    service.model.play(
      callTool('web_search', { query: 'terms', limit: 3 }),
      callTool('web_extract', { urls: [`${site.url}/terms`, `${site.url}/long`, `${site.url}/away`] }),
      (request) => {
        const { results } = parse(readChat(request).at(-1)) as unknown as { results: { content: string }[] };
        const [, path, offset] = /saved at (\S+): .*offset=(\d+)/.exec(results[1]?.content ?? '') ?? [];
        return callTool('read_file', { path, offset: Number(offset) });
      },
      say('done'),
    );
    await chat.prompt('What are the terms?');
    for (let call = 0; call < 3; call += 1) await chat.next('agent.tool_result');
    await chat.next('session.status_idle');
    expect(toolNames(service.model.requests[0]!)).toEqual(expect.arrayContaining(['web_search', 'web_extract']));
    expect(parse(readChat(service.model.requests[1]!).at(-1))).toEqual({
      success: true,
      data: {
        web: [{ title: 'The terms', url: `${site.url}/terms`, description: 'All of them', position: 1 }],
      },
    });
    expect(parse(readChat(service.model.requests[2]!).at(-1))).toEqual({
      results: [
        {
          url: `${site.url}/terms`,
          title: 'The terms',
          content: expect.stringContaining(`[terms](${site.url}/terms/4)`),
          error: null,
        },
        { url: `${site.url}/long`, title: 'The terms', content: expect.stringContaining('Showing'), error: null },
        {
          url: `${site.url}/away`,
          title: '',
          content: '',
          error: expect.stringContaining('not on the public internet'),
          blocked_by_policy: true,
        },
      ],
    });
    expect(readChat(service.model.requests[3]!).at(-1)).toContain('Paragraph 99 tells');
    chat.close();
  });

  it('asks a person first, unless the toolset is allowed', async () => {
    const chat = await service.api.openChat(await service.api.createAgent());
    service.model.play(callTool('web_search', { query: 'terms' }), say('done'));
    await chat.prompt('Search.');
    const ask = await chat.next('agent.approval_request');
    expect(ask.payload).toMatchObject({ tool_name: 'web_search', toolset: 'web', input: { query: 'terms' } });
    await chat.next('session.status_idle');
    await chat.send(allow(ask.id));
    await chat.next('session.status_idle');
    const result = (await chat.list()).find(({ type }) => type === 'agent.tool_result');
    expect(textOf(result)).toContain('"success":true');
    chat.close();
  });
});
