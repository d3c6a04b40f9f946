import { z } from 'zod';
import type { Operation } from './operation.ts';
import { CompletionChunk } from './stream-events.ts';

const Usage = z.looseObject({ total_tokens: z.int() });
const model = z.string().meta({ description: '`<provider>/<id>`, a name of the configuration, or `script/…`' });
const models = z.array(z.string()).max(20).optional();
const size = z.string().optional();
const n = z.int().min(1).max(10).optional();
const file = z.string().meta({ format: 'binary' });

const EmbeddingsRequest = z
  .looseObject({
    model,
    models,
    input: z.union([z.string(), z.array(z.string()), z.array(z.int()), z.array(z.array(z.int()))]),
    encoding_format: z.enum(['float', 'base64']).optional(),
    dimensions: z.int().min(1).optional(),
  })
  .meta({ id: 'EmbeddingsRequest' });
const Embeddings = z
  .looseObject({
    object: z.literal('list'),
    data: z.array(
      z.looseObject({
        object: z.literal('embedding'),
        index: z.int(),
        embedding: z.union([z.array(z.number()), z.string()]),
      }),
    ),
    model: z.string(),
    usage: z.looseObject({ prompt_tokens: z.int(), total_tokens: z.int() }),
  })
  .meta({ id: 'Embeddings' });

const ImageRequest = z
  .looseObject({
    model,
    models,
    prompt: z.string(),
    n,
    size,
    response_format: z.enum(['url', 'b64_json']).optional(),
  })
  .meta({ id: 'ImageRequest' });
const ImageEditRequest = z.looseObject({ model, prompt: z.string(), image: file, mask: file.optional(), n, size });
const Images = z
  .looseObject({
    created: z.int(),
    data: z.array(z.looseObject({ b64_json: z.string().optional(), url: z.string().optional() })),
    usage: Usage.optional(),
  })
  .meta({ id: 'Images' });

const SpeechRequest = z.looseObject({
  model,
  models,
  input: z.string(),
  voice: z.unknown().optional(),
  response_format: z.string().optional(),
  speed: z.number().optional(),
});
const TranscriptionRequest = z
  .looseObject({ model, file, language: z.string().optional(), response_format: z.string().optional() })
  .meta({ id: 'TranscriptionRequest' });
const Transcript = z.looseObject({ text: z.string() }).meta({ id: 'Transcript' });

const ModerationRequest = z.looseObject({
  model: model.optional(),
  input: z.union([z.string(), z.array(z.unknown())]),
});
const Moderation = z.looseObject({
  id: z.string(),
  model: z.string(),
  results: z.array(
    z.looseObject({
      flagged: z.boolean(),
      categories: z.record(z.string(), z.boolean()),
      category_scores: z.record(z.string(), z.number()),
    }),
  ),
});

const RerankRequest = z.looseObject({
  model,
  models,
  query: z.string(),
  documents: z.array(z.union([z.string(), z.looseObject({ text: z.string() })])).min(1),
  top_n: z.int().min(1).optional(),
  return_documents: z.boolean().optional(),
});
const Ranking = z.looseObject({
  results: z.array(z.looseObject({ index: z.int(), relevance_score: z.number() })),
});

const CompletionRequest = z.looseObject({
  model,
  models,
  prompt: z.union([z.string(), z.array(z.unknown())]).optional(),
  max_tokens: z.int().optional(),
  stream: z.boolean().optional(),
});
const Completion = z.looseObject({
  id: z.string(),
  object: z.literal('text_completion'),
  choices: z.array(z.looseObject({ index: z.int(), text: z.string(), finish_reason: z.string().nullable() })),
  usage: Usage.optional(),
});

const post = { method: 'post' as const };

/** Model calls that are not for text. */
export const ENDPOINT_OPERATIONS: readonly Operation[] = [
  {
    ...post,
    id: 'createEmbeddings',
    path: '/v1/embeddings',
    tag: 'Embeddings',
    summary: 'Turn texts into vectors',
    body: EmbeddingsRequest,
    answer: Embeddings,
  },
  {
    ...post,
    id: 'rerank',
    path: '/v1/rerank',
    tag: 'Embeddings',
    summary: 'Order documents by relevance',
    body: RerankRequest,
    answer: Ranking,
  },
  {
    ...post,
    id: 'createImage',
    path: '/v1/images/generations',
    tag: 'Images',
    summary: 'Create images',
    body: ImageRequest,
    answer: Images,
  },
  {
    ...post,
    id: 'editImage',
    path: '/v1/images/edits',
    tag: 'Images',
    summary: 'Edit an image',
    body: ImageEditRequest,
    form: true,
    answer: Images,
  },
  {
    ...post,
    id: 'createSpeech',
    path: '/v1/audio/speech',
    tag: 'Audio',
    summary: 'Say a text',
    body: SpeechRequest,
    answer: file,
    // The type is the provider's; generators of clients know only the second one as bytes.
    binary: ['audio/*', 'application/octet-stream'],
  },
  {
    ...post,
    id: 'createTranscription',
    path: '/v1/audio/transcriptions',
    tag: 'Audio',
    summary: 'Transcribe an audio file',
    body: TranscriptionRequest,
    form: true,
    answer: Transcript,
  },
  {
    ...post,
    id: 'createTranslation',
    path: '/v1/audio/translations',
    tag: 'Audio',
    summary: 'Transcribe an audio file in English',
    body: TranscriptionRequest,
    form: true,
    answer: Transcript,
  },
  {
    ...post,
    id: 'createModeration',
    path: '/v1/moderations',
    tag: 'Text',
    summary: 'Classify harmful content',
    body: ModerationRequest,
    answer: Moderation,
  },
  {
    ...post,
    id: 'createCompletion',
    path: '/v1/completions',
    tag: 'Text',
    summary: 'Create a completion of a text',
    body: CompletionRequest,
    answer: Completion,
    event: CompletionChunk,
  },
];
