import { expect, it } from 'vitest';
import { ProvidersConfig } from '../../src/inference/config.ts';
import { buildModelTable } from '../../src/inference/providers.ts';
import { buildAuthHeaders } from '../../src/inference/upstream/history.ts';

it('a preset sets the omitted fields of a provider', () => {
  const providers = ProvidersConfig.parse({
    local: { preset: 'ollama' },
    azure: { preset: 'azure-openai', baseUrl: 'https://r.openai.azure.com/openai/v1', apiKey: 'secret' },
    moved: { preset: 'vllm', baseUrl: 'http://gpu:8000/v1' },
  });
  expect(providers['local']).toMatchObject({ format: 'chat-completions', baseUrl: 'http://127.0.0.1:11434/v1' });
  expect(providers['moved']?.baseUrl).toBe('http://gpu:8000/v1');
  const target = buildModelTable(providers, {}).resolve('azure/gpt-5').entries[0]?.target;
  expect(target && buildAuthHeaders(target)).toEqual({ 'api-key': 'secret' });
});

it('an unknown preset, and a preset without an address, are errors', () => {
  expect(ProvidersConfig.safeParse({ a: { preset: 'none' } }).success).toBe(false);
  expect(ProvidersConfig.safeParse({ a: { preset: 'azure-openai' } }).success).toBe(false);
});
