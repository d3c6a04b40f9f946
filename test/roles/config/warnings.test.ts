import { expect, test } from 'vitest';
import { readConfig } from '../../../src/roles/config/config.ts';
import { listWarnings } from '../../../src/roles/config/warnings.ts';

test.each([
  ['all', {}, []],
  ['all', { CAPSTAN_HOST: '::1' }, []],
  ['all', { CAPSTAN_HOST: 'localhost', CAPSTAN_API_KEY: 'short' }, ['CAPSTAN_API_KEY']],
  ['all', { CAPSTAN_HOST: '0.0.0.0' }, ['CAPSTAN_PUBLIC_URL']],
  ['video', { CAPSTAN_HOST: '::' }, ['CAPSTAN_PUBLIC_URL']],
  ['api', { CAPSTAN_HOST: '0.0.0.0' }, []],
  ['all', { CAPSTAN_HOST: '0.0.0.0', CAPSTAN_PUBLIC_URL: 'https://capstan.example' }, []],
])('the role %s with %o warns of %o', (role, env, names) => {
  const warnings = listWarnings(role, readConfig(env, role));
  expect(warnings.map((warning) => warning.split(' ', 1)[0])).toEqual(names);
});
