import { expect, it } from 'vitest';
import { explainMissing } from '../../src/roles/api.ts';

const acme = { format: 'chat-completions' as const, baseUrl: 'http://127.0.0.1:1/v1', timeoutSeconds: 1 };
const config = {
  models: { fast: ['acme/small'] },
  providers: { acme: { ...acme, models: [{ id: 'small' }] }, open: acme },
  gateway: undefined,
};

it('a model that no provider serves is explained with the setting to add', () => {
  expect(explainMissing('nope/x', config)).toContain('add it to providers in capstan.yaml');
  expect(explainMissing('openai/gpt-5', config)).toContain('set OPENAI_API_KEY');
  expect(explainMissing('acme/large', config)).toContain('providers.acme.models');
});

it('a model that is served, or that a gateway may serve, is not', () => {
  for (const name of ['fast', 'acme/small', 'open/any', 'script/demo']) {
    expect(explainMissing(name, config)).toBeUndefined();
  }
  expect(explainMissing('nope/x', { ...config, gateway: { baseUrl: 'http://g', apiKey: 'k' } })).toBeUndefined();
});
