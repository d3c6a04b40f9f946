import { describe, expect, it } from 'vitest';
import { ModelsConfig, ProvidersConfig } from '../../../src/inference/config.ts';

const acme = { format: 'messages', baseUrl: 'http://127.0.0.1:9/v1' };
const fails = (provider: object, name = 'acme') => !ProvidersConfig.safeParse({ [name]: provider }).success;

describe('the configuration of providers', () => {
  it('needs a format and a base address only', () => {
    expect(ProvidersConfig.parse({ acme })).toEqual({ acme: { ...acme, timeoutSeconds: 600 } });
  });

  it.each([
    ['an unknown field', { ...acme, baseURL: 'x' }],
    ['an unknown format', { ...acme, format: 'chat' }],
    ['an address that is not http', { ...acme, baseUrl: 'file:///etc' }],
    ['two keys', { ...acme, apiKey: 'a', apiKeyEnv: 'B' }],
    ['a model with an unknown field', { ...acme, models: [{ id: 'a', context: 1 }] }],
    ['a price below zero', { ...acme, models: [{ id: 'a', price: { input: -1, output: 0 } }] }],
    ['no time at all', { ...acme, timeoutSeconds: 0 }],
  ])('does not take %s', (_, provider) => {
    expect(fails(provider)).toBe(true);
  });

  it.each(['script', 'a/b', ''])('does not take the name %j', (name) => {
    expect(fails(acme, name)).toBe(true);
  });
});

describe('the configuration of model names', () => {
  it('takes lists of <provider>/<id>, whose id may hold slashes', () => {
    expect(ModelsConfig.parse({ fast: ['acme/org/a', 'b/c'] })).toEqual({ fast: ['acme/org/a', 'b/c'] });
    expect(ModelsConfig.safeParse({ fast: [] }).success).toBe(false);
    expect(ModelsConfig.safeParse({ fast: ['a'] }).success).toBe(false);
  });
});
