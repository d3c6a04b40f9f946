import { z } from 'zod';
import { Id, Page, listOf } from './common.ts';
import { ApiKey, ApiKeyCreate, ApiKeyCreated, ApiKeyDeleted } from './keys.ts';
import { defineRoute } from './route.ts';

const admin = { tag: 'API keys', scope: 'admin' } as const;

export const keyRoutes = {
  listApiKeys: defineRoute({
    ...admin,
    id: 'listApiKeys',
    method: 'GET',
    path: '/v1/api-keys',
    summary: 'Every key, newest first, without its secret',
    query: Page,
    responses: { 200: listOf(ApiKey) },
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
};
