import { z } from 'zod';
import { MessagesError } from './messages.ts';
import type { Operation } from './operation.ts';

const file = z.string().meta({ format: 'binary' });
const FileObject = z
  .looseObject({
    id: z.string(),
    object: z.literal('file'),
    bytes: z.int(),
    created_at: z.int(),
    filename: z.string(),
    purpose: z.string(),
  })
  .meta({ id: 'GatewayFile' });
const BatchObject = z
  .looseObject({
    id: z.string(),
    object: z.literal('batch'),
    endpoint: z.string().optional(),
    input_file_id: z.string(),
    status: z.string(),
    output_file_id: z.string().nullish(),
  })
  .meta({ id: 'Batch' });
const MessageBatch = z
  .looseObject({
    id: z.string(),
    type: z.literal('message_batch'),
    processing_status: z.string(),
    results_url: z.string().nullish().meta({ description: 'an address of this gateway' }),
  })
  .meta({ id: 'MessageBatch' });
const listOf = (item: z.ZodType) =>
  z.looseObject({ object: z.literal('list'), data: z.array(item), has_more: z.boolean() });

const FileRequest = z.looseObject({ file, purpose: z.string(), provider: z.string().optional() });
const BatchRequest = z.looseObject({ input_file_id: z.string(), endpoint: z.string(), completion_window: z.string() });
const MessageBatchRequest = z.looseObject({
  requests: z.array(z.looseObject({ custom_id: z.string(), params: z.looseObject({ model: z.string() }) })).min(1),
});

const id = [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }];
const tag = 'Batches';

function queryText(name: string, description: string) {
  return { name, in: 'query', required: false, description, schema: { type: 'string' } };
}
const limit = {
  ...queryText('limit', 'at most 100'),
  schema: { type: 'integer', minimum: 1, default: 20 },
};
const after = queryText('after', 'the last id of the page before');
const pages = [limit, after];
const purposes = [...pages, queryText('purpose', 'only files with this purpose')];
const messagePages = [
  limit,
  queryText('after_id', 'entries older than this one'),
  queryText('before_id', 'newer ones'),
];
const error = MessagesError;
const root = '/v1/messages/batches';
const one = '/v1/messages/batches/{id}';

/** Files and batches. */
export const BATCH_OPERATIONS: readonly Operation[] = [
  {
    id: 'createGatewayFile',
    method: 'post',
    path: '/v1/files',
    tag,
    summary: 'Upload a file',
    body: FileRequest,
    form: true,
    answer: FileObject,
  },
  {
    id: 'listGatewayFiles',
    method: 'get',
    path: '/v1/files',
    tag,
    summary: 'List the files',
    answer: listOf(FileObject),
    parameters: purposes,
  },
  {
    id: 'getGatewayFile',
    method: 'get',
    path: '/v1/files/{id}',
    tag,
    summary: 'Get one file',
    answer: FileObject,
    parameters: id,
  },
  {
    id: 'deleteGatewayFile',
    method: 'delete',
    path: '/v1/files/{id}',
    tag,
    summary: 'Delete a file',
    answer: z.object({ id: z.string(), object: z.literal('file'), deleted: z.literal(true) }),
    parameters: id,
  },
  {
    id: 'getGatewayFileContent',
    method: 'get',
    path: '/v1/files/{id}/content',
    tag,
    summary: 'Get the content of a file',
    answer: file,
    binary: ['application/octet-stream'],
    parameters: id,
  },
  {
    id: 'createBatch',
    method: 'post',
    path: '/v1/batches',
    tag,
    summary: 'Start a batch',
    body: BatchRequest,
    answer: BatchObject,
  },
  {
    id: 'listBatches',
    method: 'get',
    path: '/v1/batches',
    tag,
    summary: 'List the batches',
    answer: listOf(BatchObject),
    parameters: pages,
  },
  {
    id: 'getBatch',
    method: 'get',
    path: '/v1/batches/{id}',
    tag,
    summary: 'Get one batch',
    answer: BatchObject,
    parameters: id,
  },
  {
    id: 'cancelBatch',
    method: 'post',
    path: '/v1/batches/{id}/cancel',
    tag,
    summary: 'Cancel a batch',
    answer: BatchObject,
    parameters: id,
  },
  {
    id: 'createMessageBatch',
    method: 'post',
    path: root,
    tag,
    summary: 'Start a batch of messages',
    body: MessageBatchRequest,
    answer: MessageBatch,
    error,
  },
  {
    id: 'listMessageBatches',
    method: 'get',
    path: root,
    tag,
    summary: 'List the batches of messages',
    answer: listOf(MessageBatch),
    parameters: messagePages,
    error,
  },
  {
    id: 'getMessageBatch',
    method: 'get',
    path: one,
    tag,
    summary: 'Get one batch of messages',
    answer: MessageBatch,
    error,
    parameters: id,
  },
  {
    id: 'deleteMessageBatch',
    method: 'delete',
    path: one,
    tag,
    summary: 'Delete a batch of messages',
    answer: z.object({ id: z.string(), type: z.literal('message_batch_deleted') }),
    error,
    parameters: id,
  },
  {
    id: 'cancelMessageBatch',
    method: 'post',
    path: `${one}/cancel`,
    tag,
    summary: 'Cancel a batch of messages',
    answer: MessageBatch,
    error,
    parameters: id,
  },
  {
    id: 'getMessageBatchResults',
    method: 'get',
    path: `${one}/results`,
    tag,
    summary: 'Get the results of a batch of messages, one JSON object per line',
    answer: file,
    // The type is the provider's; generators of clients know only the second one as bytes.
    binary: ['application/x-jsonl', 'application/octet-stream'],
    error,
    parameters: id,
  },
];
