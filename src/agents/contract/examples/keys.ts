import { VERSION } from '../../../platform/contract/version.ts';
import { ID, LATER, TIME, anyListExample, listExample } from '../../../platform/contract/examples/example.ts';
import type { Example } from '../../../platform/contract/examples/example.ts';

const key = {
  object: 'api_key',
  id: ID.key,
  name: 'backend',
  organization: 'acme',
  organizationId: ID.organization,
  prefix: 'cap_4f7Q',
  scopes: ['agents:read', 'agents:write'],
  requestsPerMinute: 1000,
  tokensPerDay: null,
  models: ['acme/*'],
  metadata: { team: 'care' },
  createdAt: TIME,
  expiresAt: null,
  lastUsedAt: LATER,
  previousExpiresAt: null,
  revokedAt: null,
};

export const keyExamples: Record<string, Example> = {
  listApiKeys: { answers: { 200: listExample(key) } },
  createApiKey: {
    body: { name: key.name, organization: key.organization, scopes: key.scopes },
    answers: { 201: { ...key, key: 'cap_4f7QhV0exampleexampleexample' } },
  },
  patchApiKey: { body: { models: key.models, expiresAt: null }, answers: { 200: key } },
  rotateApiKey: {
    body: { gracePeriodSeconds: 3600 },
    answers: { 200: { ...key, previousExpiresAt: LATER, key: 'cap_9x2LhV0exampleexampleexample' } },
  },
  listOrganizations: {
    answers: {
      200: anyListExample({ object: 'organization', id: ID.organization, name: 'acme', createdAt: TIME }),
    },
  },
  revokeApiKey: { answers: { 200: { object: 'api_key.deleted', id: ID.key, deleted: true } } },
};

const signIn = {
  object: 'sign_in',
  id: ID.signIn,
  organization: 'acme',
  organizationId: ID.organization,
  scopes: key.scopes,
  expiresAt: LATER,
};

export const signInExamples: Record<string, Example> = {
  getCaller: {
    answers: {
      200: {
        object: 'caller',
        organization: 'acme',
        organizationId: ID.organization,
        keyId: ID.key,
        user: null,
        scopes: key.scopes,
        effectiveScopes: ['agents:read', 'agents:approve', 'agents:write', 'agents:deploy'],
        requestsPerMinute: 1000,
        services: ['agents', 'inference', 'video', 'login'],
        version: VERSION,
      },
    },
  },
  createSignIn: { body: { key: 'cap_4f7QhV0exampleexampleexample' }, answers: { 201: signIn } },
  deleteSignIn: { answers: { 200: { object: 'sign_in.deleted', id: ID.signIn, deleted: true, logoutUrl: null } } },
  listSignInMethods: { answers: { 200: { object: 'list', data: [{ type: 'key', issuer: null, href: null }] } } },
};
