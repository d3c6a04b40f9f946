import { describe, expect, it } from 'vitest';
import type { ModelMessage, ModelRequest } from '../../../../src/inference/model.ts';
import { fitReasoning } from '../../../../src/inference/upstream/effort.ts';
import { buildGenerateContentRequest } from '../../../../src/inference/upstream/generate-content/request.ts';
import { WEATHER_TOOL, buildRequest, buildTarget } from '../../../support/upstream.ts';

const target = buildTarget('generate-content', { apiKey: 'k-123', model: 'gemini-2.5-flash' });
const three = { ...target, model: 'gemini-3-pro-preview' };
const text = (value: string) => ({ type: 'text' as const, text: value });
const user = (value: string): ModelMessage => ({ role: 'user', content: [text(value)] });
const build = (fields: Partial<ModelRequest>, to = target) =>
  buildGenerateContentRequest(buildRequest(fields), to).body;
const call = (id: string, city = 'Ulm') => ({
  type: 'tool_call' as const,
  id,
  name: 'weather',
  arguments: JSON.stringify({ city }),
});
const sent = (id: string, city = 'Ulm') => ({ functionCall: { id, name: 'weather', args: { city } } });
const result = (callId: string, value: string, isError = false) => ({ callId, content: [text(value)], isError });
const answer = (id: string, response: object) => ({ functionResponse: { id, name: 'weather', response } });
const signed = (signature: string, issuer = 'acme/small') => ({
  type: 'reasoning' as const,
  text: 'hm',
  signature,
  issuer,
});

describe('a generateContent request', () => {
  it('has the model in its path, and the key in the header of Google', () => {
    const { path, headers, body } = buildGenerateContentRequest(buildRequest({ system: 'Be brief.' }), target);
    expect(path).toBe('/models/gemini-2.5-flash:streamGenerateContent?alt=sse');
    expect(headers).toEqual({ 'x-goog-api-key': 'k-123' });
    expect(body).toEqual({
      systemInstruction: { parts: [{ text: 'Be brief.' }] },
      contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
    });
  });

  it('cannot be led to another path by the name of a model', () => {
    const path = (model: string) => buildGenerateContentRequest(buildRequest(), { ...target, model }).path;
    expect(path('a?b#c')).toBe('/models/a%3Fb%23c:streamGenerateContent?alt=sse');
    expect(path('tunedModels/mine')).toBe('/tunedModels/mine:streamGenerateContent?alt=sse');
    for (const model of ['..', 'models/../../x', 'a//b', '/']) expect(() => path(model)).toThrow('does not know');
  });

  it('carries sampling, limits, stop sequences and the schema of the output', () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } } };
    const { generationConfig } = build(
      {
        maxOutputTokens: 9000,
        temperature: 1.5,
        topP: 0.5,
        sampling: { topK: 7, seed: 3, frequencyPenalty: 0.5, presencePenalty: -1 },
        stop: ['a', 'b', 'c', 'd', 'e', 'f'],
        responseFormat: { type: 'json_schema', name: 'x', schema },
      },
      { ...target, maxOutputTokens: 8192 },
    );
    expect(generationConfig).toEqual({
      maxOutputTokens: 8192,
      temperature: 1.5,
      topP: 0.5,
      topK: 7,
      seed: 3,
      frequencyPenalty: 0.5,
      presencePenalty: -1,
      stopSequences: ['a', 'b', 'c', 'd', 'e'],
      responseMimeType: 'application/json',
      responseJsonSchema: schema,
    });
  });

  it.each([
    ['auto', undefined],
    ['none', { mode: 'NONE' }],
    ['required', { mode: 'ANY' }],
    [{ name: 'weather' }, { mode: 'ANY', allowedFunctionNames: ['weather'] }],
  ] as const)('tells the choice of tools: %j', (toolChoice, config) => {
    const { tools, toolConfig } = build({ tools: [WEATHER_TOOL], toolChoice });
    const { parameters, ...named } = WEATHER_TOOL;
    expect(tools).toEqual([{ functionDeclarations: [{ ...named, parametersJsonSchema: parameters }] }]);
    expect(toolConfig).toEqual(config && { functionCallingConfig: config });
  });

  it.each([
    ['gemini-2.5-flash', { effort: 'none' }, { includeThoughts: false, thinkingBudget: 0 }],
    ['gemini-2.5-pro', { effort: 'none' }, { includeThoughts: false, thinkingBudget: 128 }],
    ['gemini-2.5-flash', { effort: 'max' }, { includeThoughts: true, thinkingBudget: 24_576 }],
    ['gemini-2.5-pro', { effort: 'medium' }, { includeThoughts: true, thinkingBudget: 8192 }],
    ['gemini-2.5-pro', { budgetTokens: 3000 }, { includeThoughts: true, thinkingBudget: 3000 }],
    ['gemini-3-pro-preview', { effort: 'medium' }, { includeThoughts: true, thinkingLevel: 'HIGH' }],
    ['gemini-3.1-pro-preview', { effort: 'medium' }, { includeThoughts: true, thinkingLevel: 'MEDIUM' }],
    ['gemini-3-flash-preview', { effort: 'minimal' }, { includeThoughts: true, thinkingLevel: 'MINIMAL' }],
    ['gemini-3-pro-preview', { budgetTokens: 30_000 }, { includeThoughts: true, thinkingLevel: 'HIGH' }],
    ['gemini-flash-latest', { effort: 'low' }, { includeThoughts: true, thinkingBudget: 1024 }],
  ] as const)('tells %s to think: %j', (model, reasoning, thinkingConfig) => {
    const to = { ...target, model, efforts: ['low', 'medium', 'high'] as const };
    const body = buildGenerateContentRequest(fitReasoning(buildRequest({ reasoning }), to), to).body;
    expect(body.generationConfig).toEqual({ thinkingConfig });
  });

  it('puts results after their calls, all of them in one content', () => {
    expect(
      build({
        messages: [
          { role: 'assistant', content: [text('Look:'), call('a'), call('b', 'Bonn')] },
          { role: 'tool', results: [result('a', 'sun')] },
          { role: 'system', content: [text('Hurry.')] },
          { role: 'tool', results: [result('b', 'no such city', true)] },
          user('And?'),
        ],
      }).contents,
    ).toEqual([
      { role: 'user', parts: [{ text: 'Continue.' }] },
      { role: 'model', parts: [{ text: 'Look:' }, sent('a'), sent('b', 'Bonn')] },
      { role: 'user', parts: [answer('a', { output: 'sun' }), answer('b', { error: 'no such city' })] },
      { role: 'user', parts: [{ text: '<system>\nHurry.\n</system>' }, { text: 'And?' }] },
    ]);
  });

  it('names no ids of calls at Vertex AI', () => {
    const vertex = { ...target, baseUrl: 'https://aiplatform.googleapis.com/v1/publishers/google' };
    const messages: ModelMessage[] = [
      user('x'),
      { role: 'assistant', content: [call('a')] },
      { role: 'tool', results: [result('a', 'sun')] },
    ];
    expect(build({ messages }, vertex).contents).toMatchObject([
      {},
      { parts: [{ functionCall: { name: 'weather', args: { city: 'Ulm' } } }] },
      { parts: [{ functionResponse: { name: 'weather', response: { output: 'sun' } } }] },
    ]);
    expect(JSON.stringify(build({ messages }, vertex))).not.toContain('"id"');
  });

  it('sends images, PDFs and remote images; images of results inside them where the model takes that', () => {
    const image = { type: 'image' as const, mediaType: 'image/png', data: 'AAAA' };
    const inline = { inlineData: { mimeType: 'image/png', data: 'AAAA' } };
    const messages: ModelMessage[] = [
      {
        role: 'user',
        content: [
          image,
          { type: 'file', mediaType: 'application/pdf', data: 'JVBE' },
          { type: 'image_url', url: 'https://a.example/b.webp?c' },
        ],
      },
      { role: 'assistant', content: [call('a')] },
      { role: 'tool', results: [{ callId: 'a', content: [text('see'), image], isError: false }] },
    ];
    const [first, , results, after] = build({ messages }).contents as { parts: object[] }[];
    expect(first?.parts).toEqual([
      inline,
      { inlineData: { mimeType: 'application/pdf', data: 'JVBE' } },
      { fileData: { mimeType: 'image/webp', fileUri: 'https://a.example/b.webp?c' } },
    ]);
    expect([results?.parts, after?.parts]).toEqual([[answer('a', { output: 'see' })], [inline]]);
    const newer = build({ messages }, three).contents as { parts: object[] }[];
    expect(newer).toHaveLength(3);
    expect(newer[2]?.parts).toMatchObject([{ functionResponse: { response: { output: 'see' }, parts: [inline] } }]);
  });

  it('returns signatures to the parts that they belong to, wherever the reasoning was put', () => {
    const content = [signed('call-0:one'), signed('text:two'), text('Look:'), call('a'), call('b', 'Bonn')];
    expect(build({ messages: [user('x'), { role: 'assistant', content }] }).contents).toMatchObject([
      {},
      {
        parts: [
          { text: 'Look:', thoughtSignature: 'two' },
          { ...sent('a'), thoughtSignature: 'one' },
          sent('b', 'Bonn'),
        ],
      },
    ]);
    const thought = build({
      messages: [user('x'), { role: 'assistant', content: [signed('thought:own'), text('y')] }],
    });
    expect(thought.contents).toMatchObject([
      {},
      { parts: [{ text: 'hm', thought: true, thoughtSignature: 'own' }, { text: 'y' }] },
    ]);
  });

  it('returns no signature of another issuer, and marks its calls for models that require one', () => {
    const content = [signed('call-0:one', 'other/model'), call('a'), call('b')];
    const messages: ModelMessage[] = [user('x'), { role: 'assistant', content }];
    expect(JSON.stringify(build({ messages }))).not.toContain('thoughtSignature');
    expect(build({ messages }, three).contents).toMatchObject([
      {},
      { parts: [{ ...sent('a'), thoughtSignature: 'skip_thought_signature_validator' }, sent('b')] },
    ]);
  });
});
