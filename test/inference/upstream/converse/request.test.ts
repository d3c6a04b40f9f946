import { describe, expect, it } from 'vitest';
import type { ModelMessage, ModelRequest } from '../../../../src/inference/model.ts';
import { buildConverseRequest } from '../../../../src/inference/upstream/converse/request.ts';
import { WEATHER_TOOL, buildRequest, buildTarget } from '../../../support/upstream.ts';

const plain = buildTarget('converse', { apiKey: 'k-123', model: 'meta.llama3-3-70b-instruct-v1:0' });
const claude = { ...plain, model: 'us.anthropic.claude-sonnet-4-5-20250929-v1:0', maxOutputTokens: 64_000 };
const text = (value: string) => ({ type: 'text' as const, text: value });
const user = (value: string): ModelMessage => ({ role: 'user', content: [text(value)] });
const build = (fields: Partial<ModelRequest>, to = plain) => buildConverseRequest(buildRequest(fields), to).body;
const call = (id: string) => ({ type: 'tool_call' as const, id, name: 'weather', arguments: '{"city":"Ulm"}' });
const use = (toolUseId: string) => ({ toolUse: { toolUseId, name: 'weather', input: { city: 'Ulm' } } });
const tools = [WEATHER_TOOL];
const specs = [
  {
    toolSpec: {
      name: 'weather',
      description: WEATHER_TOOL.description,
      inputSchema: { json: WEATHER_TOOL.parameters },
    },
  },
];
const cachePoint = { cachePoint: { type: 'default' } };

describe('a Converse request', () => {
  it('has the model in its path, and an API key as a bearer token', () => {
    const { path, headers, body } = buildConverseRequest(buildRequest({ system: 'Be brief.' }), plain);
    expect(path).toBe('/model/meta.llama3-3-70b-instruct-v1%3A0/converse-stream');
    expect(headers).toEqual({ authorization: 'Bearer k-123' });
    expect(body).toEqual({ system: [{ text: 'Be brief.' }], messages: [{ role: 'user', content: [{ text: 'Hi' }] }] });
    const arn = 'arn:aws:bedrock:eu-west-1:1:inference-profile/a?b';
    expect(buildConverseRequest(buildRequest(), { ...plain, model: arn }).path).toBe(
      '/model/arn%3Aaws%3Abedrock%3Aeu-west-1%3A1%3Ainference-profile%2Fa%3Fb/converse-stream',
    );
    expect(() => buildConverseRequest(buildRequest(), { ...plain, model: '..' })).toThrow('does not know');
  });

  it('carries limits, sampling, stop sequences and the schema of the output', () => {
    const fields: Partial<ModelRequest> = {
      maxOutputTokens: 9000,
      temperature: 1.5,
      topP: 0.5,
      sampling: { topK: 7 },
      stop: ['END', ' '],
      responseFormat: { type: 'json_schema', name: 'x', schema: { type: 'object' } },
    };
    const outputConfig = {
      textFormat: { type: 'json_schema', structure: { jsonSchema: { name: 'x', schema: '{"type":"object"}' } } },
    };
    expect(build(fields, { ...plain, maxOutputTokens: 4096 })).toMatchObject({
      inferenceConfig: { maxTokens: 4096, temperature: 1, topP: 0.5, stopSequences: ['END'] },
      outputConfig,
    });
    expect(build(fields, claude)).toMatchObject({
      inferenceConfig: { maxTokens: 9000, temperature: 1, stopSequences: ['END'] },
      additionalModelRequestFields: { top_k: 7 },
      additionalModelResponseFieldPaths: ['/stop_sequence'],
      outputConfig,
    });
    expect(build(fields, { ...plain, model: 'us.amazon.nova-pro-v1:0' })).toMatchObject({
      additionalModelRequestFields: { inferenceConfig: { topK: 7 } },
    });
  });

  it.each([
    ['auto', undefined],
    ['required', { any: {} }],
    [{ name: 'weather' }, { tool: { name: 'weather' } }],
  ] as const)('tells the choice of tools: %j', (toolChoice, choice) => {
    const expected = choice === undefined ? { tools: specs } : { tools: specs, toolChoice: choice };
    expect(build({ tools, toolChoice }).toolConfig).toEqual(expected);
  });

  it('describes calls in text where none may be made', () => {
    const messages: ModelMessage[] = [
      user('Ulm?'),
      { role: 'assistant', content: [text('Look:'), call('a')] },
      { role: 'tool', results: [{ callId: 'a', content: [text('sun')], isError: false }] },
    ];
    for (const fields of [{ tools, toolChoice: 'none' as const }, {}]) {
      const body = build({ messages, ...fields });
      expect(body).not.toHaveProperty('toolConfig');
      expect(body.messages).toEqual([
        { role: 'user', content: [{ text: 'Ulm?' }] },
        { role: 'assistant', content: [{ text: 'Look:' }, { text: '[Called weather with {"city":"Ulm"}]' }] },
        { role: 'user', content: [{ text: '[Result of the call]' }, { text: 'sun' }] },
      ]);
    }
  });

  it.each([
    [claude.model, { effort: 'low' }, { thinking: { type: 'enabled', budget_tokens: 4096 } }],
    ['openai.gpt-oss-120b-1:0', { effort: 'minimal' }, { reasoning_effort: 'low' }],
    [
      'us.amazon.nova-2-lite-v1:0',
      { effort: 'high' },
      { reasoningConfig: { type: 'enabled', maxReasoningEffort: 'high' } },
    ],
    ['meta.llama3-3-70b-instruct-v1:0', { effort: 'high' }, undefined],
  ] as const)('tells %s to reason: %j', (model, reasoning, fields) => {
    expect(build({ reasoning }, { ...plain, model }).additionalModelRequestFields).toEqual(fields);
  });

  it('tells newer models of Claude an effort instead of a budget', () => {
    expect(
      build({ reasoning: { effort: 'high' } }, { ...claude, model: 'anthropic.claude-opus-4-6-v1' }),
    ).toMatchObject({
      additionalModelRequestFields: { thinking: { type: 'adaptive', display: 'summarized' } },
      outputConfig: { effort: 'high' },
    });
  });

  it('puts results first in their turn, and alternates roles', () => {
    const { messages } = build({
      tools,
      messages: [
        { role: 'assistant', content: [call('a'), call('b')] },
        { role: 'tool', results: [{ callId: 'a', content: [text('sun')], isError: false }] },
        { role: 'system', content: [text('Hurry.')] },
        { role: 'tool', results: [{ callId: 'b', content: [], isError: true }] },
        user('And?'),
        { role: 'assistant', content: [text('So: ')] },
      ],
    });
    expect(messages).toEqual([
      { role: 'user', content: [{ text: 'Continue.' }] },
      { role: 'assistant', content: [use('a'), use('b')] },
      {
        role: 'user',
        content: [
          { toolResult: { toolUseId: 'a', content: [{ text: 'sun' }] } },
          { toolResult: { toolUseId: 'b', content: [{ text: 'Error' }] } },
          { text: '<system>\nHurry.\n</system>' },
          { text: 'And?' },
        ],
      },
      { role: 'assistant', content: [{ text: 'So:' }] },
    ]);
  });

  it('sets cache breakpoints for Claude, for the duration that the caller names', () => {
    const fields: Partial<ModelRequest> = { system: 's', tools, cacheKey: 'c' };
    const body = build({ ...fields }, claude);
    expect(body.system).toEqual([{ text: 's' }, cachePoint]);
    expect(body.toolConfig).toEqual({ tools: [...specs, cachePoint] });
    expect(body.messages).toEqual([{ role: 'user', content: [{ text: 'Hi' }, cachePoint] }]);
    expect(JSON.stringify(build({ ...fields, cacheTtl: '1h' }, claude))).toContain('"ttl":"1h"');
    expect(JSON.stringify(build(fields))).not.toContain('cachePoint');
  });

  it('returns reasoning to its issuer alone', () => {
    const thought = { type: 'reasoning' as const, text: 'hm', signature: 'c2ln' };
    const hidden = { type: 'reasoning' as const, text: '', redacted: 'eA==' };
    const issuer = plain.name;
    const content = [{ ...thought, issuer }, { ...hidden, issuer }, { ...thought, issuer: 'b/c' }, thought, text('x')];
    const { messages } = build({ messages: [user('Hi'), { role: 'assistant', content }] });
    expect(messages).toMatchObject([
      {},
      {
        content: [
          { reasoningContent: { reasoningText: { text: 'hm', signature: 'c2ln' } } },
          { reasoningContent: { redactedContent: 'eA==' } },
          { text: 'x' },
        ],
      },
    ]);
  });

  it('sends images and named documents, and refuses addresses of images', () => {
    const image = { type: 'image' as const, mediaType: 'image/png', data: 'AAAA' };
    const file = { type: 'file' as const, mediaType: 'application/pdf' as const, data: 'JVBE', name: 'ä  b_1.pdf' };
    const { messages } = build({ messages: [{ role: 'user', content: [image, file, file] }] });
    const document = (name: string) => ({ document: { format: 'pdf', name, source: { bytes: 'JVBE' } } });
    expect(messages).toEqual([
      {
        role: 'user',
        content: [
          { text: 'Document:' },
          { image: { format: 'png', source: { bytes: 'AAAA' } } },
          document('- b-1-pdf 1'),
          document('- b-1-pdf 2'),
        ],
      },
    ]);
    const remote = { type: 'image_url' as const, url: 'https://a.example/b.png' };
    expect(() => build({ messages: [{ role: 'user', content: [remote] }] })).toThrow('base64');
  });
});
