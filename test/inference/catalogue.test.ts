import { expect, it } from 'vitest';
import { findInCatalogue, listKnownModels } from '../../src/inference/catalogue.ts';
import { openInference } from '../../src/inference/inference.ts';
import { openLog } from '../../src/platform/log.ts';
import type { ProvidersConfig } from '../../src/inference/config.ts';

const find = (provider: string, id: string, baseUrl = 'http://127.0.0.1:1/v1') =>
  findInCatalogue({ provider, id, baseUrl });
const open = (providers: ProvidersConfig) =>
  openInference({ providers, models: {}, log: openLog({ level: 'silent', pretty: false }) });
const anthropic = {
  format: 'messages' as const,
  baseUrl: 'https://api.anthropic.com/v1',
  timeoutSeconds: 600,
  apiKey: 'key',
};

it('knows the window, the output limit and the prices of a model by the name of its provider', () => {
  expect(find('anthropic', 'claude-opus-4-6')).toMatchObject({
    contextWindow: 1_000_000,
    maxOutputTokens: 128_000,
    vision: true,
    price: { input: 5, output: 25, cacheRead: 0.5, cacheWrite: 6.25 },
  });
  expect(find('openai', 'gpt-5.2')).toMatchObject({ contextWindow: 400_000, maxOutputTokens: 128_000 });
});

it('knows the prices of long prompts', () => {
  expect(find('openai', 'gpt-5.5').price).toMatchObject({ input: 5, longContext: { input: 10, output: 45 } });
});

it('finds a provider by its address, and a model behind any provider by its own name', () => {
  const { price: listed } = find('mine', 'claude-opus-4-6', 'https://api.anthropic.com/v1');
  expect(listed).toMatchObject({ input: 5 });
  expect(find('proxy', 'anthropic/claude-sonnet-4-5-20250929')).toMatchObject({ maxOutputTokens: 64_000 });
  expect(find('proxy', 'us.anthropic.claude-opus-4-1-20250805-v1:0').maxOutputTokens).toBe(32_000);
  expect(find('proxy', 'claude-opus-4-6').price).toMatchObject({ input: 5 });
});

it('gives open weights behind an unknown provider no price', () => {
  expect(find('vllm', 'gpt-oss-120b')).toMatchObject({ contextWindow: 131_072, vision: false });
  expect(find('vllm', 'gpt-oss-120b').price).toBeUndefined();
});

it('does not find an unknown name', () => {
  expect(find('acme', 'small')).toEqual({});
  expect(find('openai', 'x'.repeat(10_000))).toEqual({});
});

it('lists the chat models of a known provider', () => {
  const models = listKnownModels({ provider: 'openai', baseUrl: 'https://api.openai.com/v1' });
  expect(models).toContain('gpt-5.2');
  expect(models.filter((id) => /whisper|embedding|image|audio|realtime/.test(id))).toEqual([]);
  expect(listKnownModels({ provider: 'acme', baseUrl: 'http://127.0.0.1:1/v1' })).toEqual([]);
});

it('is overridden by the configuration, field by field', async () => {
  const inference = open({ anthropic: { ...anthropic, models: [{ id: 'claude-opus-4-6', contextWindow: 50_000 }] } });
  expect(inference.findModel('anthropic/claude-opus-4-6')).toMatchObject({
    contextWindow: 50_000,
    maxOutputTokens: 128_000,
    price: { input: 5 },
    efforts: ['none', 'low', 'medium', 'high', 'max'],
  });
  expect(inference.listModels().map(({ name }) => name)).toEqual(['anthropic/claude-opus-4-6', 'script/demo']);
  await inference.close();
});

it('gives a provider without a list its known models', async () => {
  const inference = open({ anthropic });
  expect(inference.listModels().map(({ name }) => name)).toContain('anthropic/claude-opus-4-6');
  expect(inference.findModel('anthropic/claude-new-9')).toMatchObject({ contextWindow: 128_000 });
  await inference.close();
});
