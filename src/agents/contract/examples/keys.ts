import { VERSION } from '../../../platform/contract/version.ts';
import { ID, LATER, TIME, anyListExample, cursorListExample } from '../../../platform/contract/examples/example.ts';
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
  listApiKeys: { answers: { 200: anyListExample(key) } },
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

const entry = {
  id: 'adt_01kg9e6hq2c3d4e5f6g7h8j9kg',
  time: TIME,
  organization: 'acme',
  organizationId: ID.organization,
  actor: { type: 'key', id: ID.key, name: 'backend', ip: '203.0.113.9', userAgent: 'curl/8.14.1' },
  action: 'setProduction',
  resource: { type: 'agent', id: ID.agent },
  outcome: 'success',
  requestId: 'req_01kg9e6hq2c3d4e5f6g7h8j9kh',
  changes: { version: 3 },
};
const hash = '3f79bb7b435b05321651daefd374cdc681dc06faa65e374e38337b88ca046dea';

export const auditExamples: Record<string, Example> = {
  listAudit: {
    query: { action: 'setProduction' },
    answers: {
      200: cursorListExample({
        object: 'audit_entry',
        ...entry,
        sequence: 7,
        previousHash: hash,
        hash,
        at: TIME,
        target: entry.resource,
        address: entry.actor.ip,
        details: entry.changes,
      }),
    },
  },
  verifyAudit: {
    answers: {
      200: {
        object: 'audit_verification',
        ok: true,
        checked: 7,
        firstSequence: 1,
        lastSequence: 7,
        lastHash: hash,
        brokenAt: null,
      },
    },
  },
};
