import { z } from 'zod';
import { CursorPagination } from '../../platform/contract/common.ts';
import type { Operation } from './operation.ts';

const GatewayRequest = z
  .object({
    object: z.literal('gateway.request'),
    id: z.string().meta({ description: 'the `x-request-id` of the response' }),
    requestId: z.string(),
    createdAt: z.iso.datetime(),
    keyId: z.string(),
    format: z.string().meta({ description: 'the client format, or the endpoint' }),
    model: z.string(),
    upstream: z.string(),
    outcome: z.string().meta({ description: '`ok`, an error code, or `client_gone`' }),
    inputTokens: z.int(),
    cachedInputTokens: z.int(),
    outputTokens: z.int(),
    reasoningTokens: z.int(),
    costUsd: z.number(),
    price: z
      .record(z.string(), z.unknown())
      .nullable()
      .meta({ description: 'US dollars per million tokens, as at the call; null: the model had none' }),
    latencyMs: z.int(),
    firstTokenMs: z.int().nullable(),
    user: z.string().nullable(),
    tags: z.array(z.string()),
  })
  .meta({ id: 'GatewayRequest' });

const GatewayRequestList = z
  .object({ object: z.literal('list'), data: z.array(GatewayRequest), pagination: CursorPagination })
  .meta({ id: 'GatewayRequestList' });

const query = (name: string, schema: Record<string, unknown>) => ({ name, in: 'query', required: false, schema });

/** The log of model calls. */
export const REQUEST_OPERATIONS: readonly Operation[] = [
  {
    id: 'listGatewayRequests',
    method: 'get',
    path: '/v1/requests',
    tag: 'Usage',
    summary: 'List model calls, newest first',
    answer: GatewayRequestList,
    parameters: [
      query('limit', { type: 'integer', minimum: 1, maximum: 100, default: 50 }),
      query('cursor', { type: 'string' }),
    ],
  },
  {
    id: 'getGatewayRequest',
    method: 'get',
    path: '/v1/requests/{requestId}',
    tag: 'Usage',
    summary: 'Get one model call',
    answer: GatewayRequest,
    parameters: [{ name: 'requestId', in: 'path', required: true, schema: { type: 'string' } }],
  },
];
