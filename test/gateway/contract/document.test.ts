import { Validator } from '@seriousme/openapi-schema-validator';
import { expect, test } from 'vitest';
import { buildInferenceDocument } from '../../../src/gateway/contract/document.ts';

type Document = Record<string, unknown> & { paths: object; components: { schemas: object } };

const inference = buildInferenceDocument() as Document;

test('the document of the gateway is valid OpenAPI 3.1, and names every route', async () => {
  const { valid, errors } = await new Validator().validate(structuredClone(inference));
  expect([valid, errors]).toEqual([true, undefined]);
  expect(Object.keys(inference.paths).sort()).toEqual([
    '/',
    '/health',
    '/models',
    '/models/{model}',
    '/v1/audio/speech',
    '/v1/audio/transcriptions',
    '/v1/audio/translations',
    '/v1/batches',
    '/v1/batches/{id}',
    '/v1/batches/{id}/cancel',
    '/v1/chat/completions',
    '/v1/completions',
    '/v1/embeddings',
    '/v1/files',
    '/v1/files/{id}',
    '/v1/files/{id}/content',
    '/v1/images/edits',
    '/v1/images/generations',
    '/v1/messages',
    '/v1/messages/batches',
    '/v1/messages/batches/{id}',
    '/v1/messages/batches/{id}/cancel',
    '/v1/messages/batches/{id}/results',
    '/v1/messages/count_tokens',
    '/v1/models',
    '/v1/models/{model}',
    '/v1/moderations',
    '/v1/providers',
    '/v1/providers/{providerId}',
    '/v1/providers/{providerId}/test',
    '/v1/requests',
    '/v1/requests/{requestId}',
    '/v1/rerank',
    '/v1/responses',
    '/v1/upstreams',
    '/v1/usage',
  ]);
});
