import { z } from 'zod';
import { AnyPage, Id, anyListOf } from './common.ts';
import { ApiKey, ApiKeyCreate, ApiKeyCreated, ApiKeyDeleted, ApiKeyPatch, ApiKeyRotate, Organization } from './keys.ts';
import { defineRoute } from './route.ts';

const admin = { tag: 'API keys', scope: 'admin' } as const;

export const keyRoutes = {
  listApiKeys: defineRoute({
    ...admin,
    id: 'listApiKeys',
    method: 'GET',
    path: '/v1/api-keys',
    summary: 'Every key, newest first, without its secret',
    query: AnyPage,
    responses: { 200: anyListOf(ApiKey) },
    errors: [],
  }),
  createApiKey: defineRoute({
    ...admin,
    id: 'createApiKey',
    method: 'POST',
    path: '/v1/api-keys',
    summary: 'Make a key; an organization named for the first time is created',
    body: ApiKeyCreate,
    responses: { 201: ApiKeyCreated },
    errors: [],
  }),
  patchApiKey: defineRoute({
    ...admin,
    id: 'patchApiKey',
    method: 'PATCH',
    path: '/v1/api-keys/{keyId}',
    summary: 'Change what a key may do; it takes effect within 5 s on every replica',
    params: z.object({ keyId: Id }),
    body: ApiKeyPatch,
    responses: { 200: ApiKey },
    errors: ['not_found', 'invalid_state'],
  }),
  rotateApiKey: defineRoute({
    ...admin,
    id: 'rotateApiKey',
    method: 'POST',
    path: '/v1/api-keys/{keyId}/rotate',
    summary: 'Give a key a new secret; the one before works on for a grace period',
    params: z.object({ keyId: Id }),
    body: ApiKeyRotate,
    bodyOptional: true,
    responses: { 200: ApiKeyCreated },
    errors: ['not_found', 'invalid_state'],
  }),
  revokeApiKey: defineRoute({
    ...admin,
    id: 'revokeApiKey',
    method: 'DELETE',
    path: '/v1/api-keys/{keyId}',
    summary: 'Revoke a key; it stops working within 5 s on every replica',
    params: z.object({ keyId: Id }),
    responses: { 200: ApiKeyDeleted },
    errors: ['not_found'],
  }),
  listOrganizations: defineRoute({
    ...admin,
    tag: 'Organizations',
    id: 'listOrganizations',
    method: 'GET',
    path: '/v1/organizations',
    summary: 'The organizations whose keys the caller manages, newest first',
    query: AnyPage,
    responses: { 200: anyListOf(Organization) },
    errors: [],
  }),
};
