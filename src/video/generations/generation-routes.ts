import type { FastifyInstance } from 'fastify';
import { buildVideoList } from '../contract/common.ts';
import { videoRoutes } from '../contract/routes.ts';
import { errors } from '../../platform/errors.ts';
import { registerRoute } from '../../platform/http/route.ts';
import { newId } from '../../platform/ids.ts';
import { COMMUNITY, deleteAsset, insertAsset } from '../store/assets.ts';
import { dropSlug, findGeneration, listGenerations } from '../store/generations.ts';
import type { GenerationState, StoredGeneration } from '../store/generations.ts';
import { buildAsset } from '../catalog/assets.ts';
import type { VideoDeps } from '../deps.ts';
import { findBase } from '../../platform/http/public-base.ts';
import { cancelGeneration } from './cancel.ts';
import { buildGenerations } from './generation-record.ts';
import { submitGenerations } from './submit.ts';

const STATES: Record<string, GenerationState[]> = {
  generating: ['queued', 'generating'],
  completed: ['completed'],
  failed: ['failed'],
};
const ALL: GenerationState[] = ['queued', 'generating', 'completed', 'failed'];
/** `retry-after` of an unfinished generation. */
const POLL_SECONDS = 5;

export function registerGenerationRoutes(app: FastifyInstance, deps: VideoDeps): void {
  const { db, settings } = deps;

  const get = async (organizationId: string, id: string): Promise<StoredGeneration> => {
    const generation = await findGeneration(db, organizationId, id);
    if (generation === undefined) throw errors.notFound('generation');
    return generation;
  };
  const describe = async (base: string, generation: StoredGeneration) =>
    (await buildGenerations(deps, base, [generation]))[0];

  registerRoute(app, deps, videoRoutes.createGenerations, async ({ body, caller, request }) => {
    const idempotencyKey = request.headers['idempotency-key'];
    const answer = await submitGenerations(deps, {
      organizationId: caller.organizationId,
      body,
      idempotencyKey: typeof idempotencyKey === 'string' ? idempotencyKey : undefined,
    });
    return { status: 202, body: answer, headers: { location: `/api/generations/${answer.data.generations[0]?.id}` } };
  });

  registerRoute(app, deps, videoRoutes.listGenerations, async ({ query, caller, request }) => {
    const states = query.status === undefined ? ALL : (STATES[query.status] ?? ALL);
    const found = await listGenerations(db, caller.organizationId, query, states);
    const list = buildVideoList(found, query);
    const base = findBase(request, settings.publicUrl);
    return { status: 200, body: { ...list, data: await buildGenerations(deps, base, list.data) } };
  });

  registerRoute(app, deps, videoRoutes.getGeneration, async ({ params, caller, request }) => {
    const generation = await get(caller.organizationId, params.generationId);
    const body = await describe(findBase(request, settings.publicUrl), generation);
    if (body?.status !== 'generating') return { status: 200, body };
    return { status: 200, body, headers: { 'retry-after': String(POLL_SECONDS) } };
  });

  registerRoute(app, deps, videoRoutes.cancelGeneration, async ({ params, caller, request }) => {
    const cancelled = await cancelGeneration(deps, await get(caller.organizationId, params.generationId));
    if (cancelled === undefined) throw errors.conflict('The generation has ended.');
    return { status: 200, body: await describe(findBase(request, settings.publicUrl), cancelled) };
  });

  registerRoute(app, deps, videoRoutes.unshareGeneration, async ({ params, caller, request }) => {
    const { id, organizationId } = await get(caller.organizationId, params.generationId);
    await dropSlug(db, organizationId, id);
    return {
      status: 200,
      body: await describe(findBase(request, settings.publicUrl), await get(organizationId, id)),
    };
  });

  registerRoute(app, deps, videoRoutes.publishGeneration, async ({ params, caller, request }) => {
    const generation = await get(caller.organizationId, params.generationId);
    const { id, assetId, videoKey, prompt, modelName, plan } = generation;
    if (generation.expired || assetId === null || videoKey === null) {
      throw errors.conflict('Only a finished video that is still kept can be published.');
    }
    const asset = await insertAsset(db, {
      id: newId('ast'),
      scope: COMMUNITY,
      generationId: id,
      assetId,
      assetType: 'video',
      prompt,
      modelName,
      metadata: { duration: `${plan.durationSeconds}s`, aspect_ratio: plan.aspectRatio, resolution: plan.resolution },
      objectKey: videoKey,
    });
    return { status: 201, body: { data: await buildAsset(deps, findBase(request, settings.publicUrl), asset) } };
  });

  registerRoute(app, deps, videoRoutes.withdrawGeneration, async ({ params, caller, request }) => {
    const generation = await get(caller.organizationId, params.generationId);
    await deleteAsset(db, generation.id, COMMUNITY);
    return { status: 200, body: await describe(findBase(request, settings.publicUrl), generation) };
  });
}
