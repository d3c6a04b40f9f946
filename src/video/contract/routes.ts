// Tests: test/video/submit.test.ts, test/video/catalog.test.ts
import { z } from 'zod';
import { COMMON_ERRORS, buildOpenApi } from '../../platform/contract/openapi.ts';
import type { ErrorCatalogue } from '../../platform/contract/openapi.ts';
import type { Route } from '../../platform/contract/route.ts';
import {
  Asset,
  Character,
  CharacterCreate,
  CreditGrant,
  Credits,
  GenerationId,
  Template,
  TemplateApply,
  Upload,
  UploadCreate,
  VideoModel,
  WebhookSecret,
} from './catalog.ts';
import { VIDEO_ERROR_STATUS, VideoError, publicVideoCode } from './errors.ts';
import type { VideoErrorCode } from './errors.ts';
import { VIDEO_EXAMPLES, listVideoErrorExamples } from './examples.ts';
import { SearchText, pageQuery, videoListOf } from './common.ts';
import { Generation, GenerationCreate, GenerationSubmitted } from './generations.ts';

const scope = 'templates:read';
const generations = { tag: 'Generations', scope } as const;
const references = { tag: 'References', scope } as const;
const catalog = { tag: 'Templates and assets', scope } as const;
const account = { tag: 'Credits', scope } as const;
const Page = pageQuery({ max: 100, default: 50 });
function defineVideoRoute<const R extends Route<VideoErrorCode>>(route: R): R {
  return route;
}

const one = <T extends z.ZodType>(data: T) => z.object({ data });

/** Every operation of the video service. */
export const videoRoutes = {
  createGenerations: defineVideoRoute({
    ...generations,
    id: 'createGenerations',
    method: 'POST',
    path: '/api/generations',
    summary: 'Queue one to four videos; credits are reserved in the same transaction',
    headers: [{ name: 'Idempotency-Key', description: 'a replay within 24 hours returns the first answer' }],
    body: GenerationCreate,
    responses: { 202: GenerationSubmitted },
    errors: [
      'unsupported_model',
      'unsupported_parameter',
      'invalid_reference',
      'insufficient_credits',
      'conflict',
      'free_tier_paused',
    ],
  }),
  listGenerations: defineVideoRoute({
    ...generations,
    orScope: 'services:read',
    id: 'listGenerations',
    method: 'GET',
    path: '/api/generations',
    summary: 'Own generations, newest first',
    query: Page.extend({ status: z.enum(['generating', 'completed', 'failed']).optional() }),
    responses: { 200: videoListOf(Generation) },
    errors: [],
  }),
  getGeneration: defineVideoRoute({
    ...generations,
    orScope: 'services:read',
    id: 'getGeneration',
    method: 'GET',
    path: '/api/generations/{generationId}',
    summary: 'Progress of a generation, and its video once it is finished',
    params: GenerationId,
    responses: { 200: Generation },
    errors: ['not_found'],
  }),
  cancelGeneration: defineVideoRoute({
    ...generations,
    id: 'cancelGeneration',
    method: 'DELETE',
    path: '/api/generations/{generationId}',
    summary: 'Cancel a generation that has not ended; its credits are refunded',
    params: GenerationId,
    responses: { 200: Generation },
    errors: ['not_found', 'conflict'],
  }),
  unshareGeneration: defineVideoRoute({
    ...generations,
    id: 'unshareGeneration',
    method: 'DELETE',
    path: '/api/generations/{generationId}/share',
    summary: 'Revoke the public page, permanently',
    params: GenerationId,
    responses: { 200: Generation },
    errors: ['not_found'],
  }),
  publishGeneration: defineVideoRoute({
    ...generations,
    id: 'publishGeneration',
    method: 'POST',
    path: '/api/generations/{generationId}/publish',
    summary: 'Share a finished video with the community; every organization can find it',
    params: GenerationId,
    responses: { 201: one(Asset) },
    errors: ['not_found', 'conflict'],
  }),
  withdrawGeneration: defineVideoRoute({
    ...generations,
    id: 'withdrawGeneration',
    method: 'DELETE',
    path: '/api/generations/{generationId}/publish',
    summary: 'Remove a video from the community',
    params: GenerationId,
    responses: { 200: Generation },
    errors: ['not_found'],
  }),
  createUpload: defineVideoRoute({
    ...references,
    id: 'createUpload',
    method: 'POST',
    path: '/api/uploads',
    summary: 'Get a URL to upload an image, a video or sound as a reference; valid for 15 minutes',
    body: UploadCreate,
    responses: { 201: one(Upload) },
    errors: [],
  }),
  createCharacter: defineVideoRoute({
    ...references,
    id: 'createCharacter',
    method: 'POST',
    path: '/api/characters',
    summary: 'Store images of a character, by URL or as files; private to the organization',
    media: {
      'application/json': CharacterCreate,
      'multipart/form-data': CharacterCreate.omit({ images: true }).extend({ images: z.array(z.string()) }),
    },
    bodyLimit: 110 * 1024 * 1024,
    responses: { 201: one(Character) },
    errors: [],
  }),
  listCharacters: defineVideoRoute({
    ...references,
    orScope: 'services:read',
    id: 'listCharacters',
    method: 'GET',
    path: '/api/characters',
    summary: 'Own characters, newest first',
    query: Page,
    responses: { 200: videoListOf(Character) },
    errors: [],
  }),
  listTemplates: defineVideoRoute({
    ...catalog,
    orScope: 'services:read',
    id: 'listTemplates',
    method: 'GET',
    path: '/api/templates',
    summary: 'Featured templates; `q` searches title and description',
    query: Page.extend({ q: SearchText.optional() }),
    responses: { 200: videoListOf(Template) },
    errors: [],
  }),
  getTemplate: defineVideoRoute({
    ...catalog,
    orScope: 'services:read',
    id: 'getTemplate',
    method: 'GET',
    path: '/api/templates/{templateId}',
    summary: 'One featured template',
    params: z.object({ templateId: z.string().min(1).max(256) }),
    responses: { 200: one(Template) },
    errors: ['not_found'],
  }),
  applyTemplate: defineVideoRoute({
    tag: 'Templates and assets',
    scope: 'admin',
    id: 'applyTemplate',
    method: 'POST',
    path: '/api/templates',
    summary: 'Create a template, or replace the one with this id',
    body: TemplateApply,
    responses: { 200: one(Template), 201: one(Template) },
    errors: [],
  }),
  searchAssets: defineVideoRoute({
    ...catalog,
    orScope: 'services:read',
    id: 'searchAssets',
    method: 'GET',
    path: '/api/assets/search',
    summary: "Videos of the community and the caller's own by words of their prompts, newest first",
    query: pageQuery({ max: 60, default: 24 }).extend({
      q: SearchText,
      type: z.enum(['all', 'image', 'video']).default('all'),
      source: z.enum(['all', 'community', 'history']).default('all'),
    }),
    responses: { 200: videoListOf(Asset) },
    errors: [],
  }),
  listVideoModels: defineVideoRoute({
    ...generations,
    orScope: 'services:read',
    id: 'listVideoModels',
    method: 'GET',
    path: '/api/models',
    summary: 'Capabilities and price of each model',
    query: pageQuery({ max: 100, default: 100 }),
    responses: { 200: videoListOf(VideoModel).extend({ object: z.literal('list') }) },
    errors: [],
  }),
  getCredits: defineVideoRoute({
    ...account,
    orScope: 'services:read',
    id: 'getCredits',
    method: 'GET',
    path: '/api/credits',
    summary: 'Credit balance, and credits reserved for generations in progress',
    responses: { 200: one(Credits) },
    errors: [],
  }),
  grantCredits: defineVideoRoute({
    ...account,
    scope: 'admin',
    id: 'grantCredits',
    method: 'POST',
    path: '/api/credits',
    summary: 'Give an organization credits',
    body: CreditGrant,
    responses: { 200: one(Credits) },
    errors: ['not_found'],
  }),
  getWebhookSecret: defineVideoRoute({
    ...account,
    tag: 'Webhooks',
    scope: 'admin',
    id: 'getWebhookSecret',
    method: 'GET',
    path: '/api/webhooks/secret',
    summary: 'The secret that signs calls of `webhookUrl`',
    responses: { 200: one(WebhookSecret) },
    errors: [],
  }),
};

const VIDEO_ERRORS = {
  status: VIDEO_ERROR_STATUS,
  common: COMMON_ERRORS,
  publicCode: publicVideoCode,
  body: VideoError,
  listExamples: listVideoErrorExamples,
} satisfies ErrorCatalogue<VideoErrorCode>;

/** The OpenAPI 3.1 document of the video service. */
export function buildVideoDocument(): Record<string, unknown> {
  return buildOpenApi<VideoErrorCode>({
    title: 'Capstan video service',
    apiVersion: '1.0.0',
    routes: Object.values(videoRoutes),
    examples: VIDEO_EXAMPLES,
    errors: VIDEO_ERRORS,
  });
}
