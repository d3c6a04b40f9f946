import { expect, test } from 'vitest';
import { OidcConfig } from '../../../../src/platform/contract/oidc.ts';
import { readIdentity } from '../../../../src/platform/http/oidc/claims.ts';

const config = OidcConfig.parse({ issuer: 'https://id.example', clientId: 'capstan' });
const readEmail = (claims: object, over: Partial<OidcConfig> = {}) =>
  readIdentity({ ...config, ...over }, { sub: 'someone', ...claims }).email;

test('an unconfirmed address does not identify a person', () => {
  const email = 'head-of-finance@acme.example';
  expect(readEmail({ email })).toBe(email);
  expect(readEmail({ email, email_verified: true })).toBe(email);
  expect(readEmail({ email, email_verified: false })).toBeNull();
  expect(readEmail({ email, email_verified: 'false' })).toBeNull();
  expect(readEmail({ upn: email, email_verified: false }, { emailClaim: 'upn' })).toBe(email);
});
