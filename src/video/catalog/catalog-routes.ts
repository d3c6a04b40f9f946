import type { FastifyInstance } from 'fastify';
import type { VideoModel } from '../contract/catalog.ts';
import { buildVideoList } from '../contract/common.ts';
import { videoRoutes } from '../contract/routes.ts';
import { errors } from '../../platform/errors.ts';
import { registerRoute } from '../../platform/http/route.ts';
import { newId } from '../../platform/ids.ts';
import { BOOTSTRAP_ORGANIZATION, findOrganization } from '../../platform/store/keys.ts';
import { ensureAccount, findAccount, grantCredits } from '../store/credits.ts';
import { slicePage } from '../../platform/store/pages.ts';
import { findTemplate, listTemplates, putTemplate } from '../store/templates.ts';
import type { OfferedModel, VideoDeps } from '../deps.ts';
import { ensureWebhookSecret } from '../webhooks/secret.ts';

function buildModel({ capabilities }: OfferedModel, prices: Readonly<Record<string, number>>): VideoModel {
  const { name, durations, resolutions, audio, formats, inputs } = capabilities;
  const price = (resolution: string) => prices[name] ?? capabilities.creditsPerSecond[resolution] ?? 1;
  return {
    id: name,
    object: 'model',
    aspect_ratios: [...new Set(['auto', ...capabilities.aspectRatios])],
    durations: durations.map((seconds) => `${seconds}s`),
    resolutions,
    audio,
    formats,
    inputs: {
      start_frame: inputs.startFrame,
      end_frame: inputs.endFrame,
      ingredient_images: inputs.ingredientImages,
      character_images: inputs.characterImages,
      source_video: inputs.sourceVideo,
      reference_videos: inputs.referenceVideos,
      audio: inputs.audio,
    },
    credits_per_second: Object.fromEntries(resolutions.map((resolution) => [resolution, price(resolution)])),
  };
}

/** Routes for templates, models, credits and the webhook secret. */
export function registerCatalogRoutes(app: FastifyInstance, deps: VideoDeps): void {
  const { db, models, settings } = deps;

  registerRoute(app, deps, videoRoutes.listTemplates, async ({ query }) => {
    const found = await listTemplates(db, query, query.q);
    return { status: 200, body: buildVideoList(found, query) };
  });

  registerRoute(app, deps, videoRoutes.getTemplate, async ({ params }) => {
    const template = await findTemplate(db, params.templateId);
    if (template === undefined) throw errors.notFound('template');
    return { status: 200, body: { data: template } };
  });

  registerRoute(app, deps, videoRoutes.applyTemplate, async ({ body, caller }) => {
    if (caller.organization !== BOOTSTRAP_ORGANIZATION) {
      throw errors.forbidden('Only keys of the first organization change templates, which everybody sees.');
    }
    const { id = newId('tpl'), title, description = null, kind, modelName, featured } = body;
    const { template, created } = await putTemplate(db, {
      id,
      title,
      description,
      kind,
      model_name: modelName,
      featured,
    });
    return { status: created ? 201 : 200, body: { data: template } };
  });

  registerRoute(app, deps, videoRoutes.listVideoModels, async ({ query }) => {
    const found = slicePage(await models.list(), ({ capabilities }) => capabilities.name, query);
    const rows = found.rows.map((model) => buildModel(model, settings.creditsPerSecond));
    return { status: 200, body: { object: 'list', ...buildVideoList({ ...found, rows }, query) } };
  });

  registerRoute(app, deps, videoRoutes.getCredits, async ({ caller }) => {
    await ensureAccount(db, caller.organizationId, settings.initialCredits);
    return { status: 200, body: { data: await findAccount(db, caller.organizationId) } };
  });

  registerRoute(app, deps, videoRoutes.grantCredits, async ({ body, caller }) => {
    // Credits are money, so an organization's own admin must not create them.
    if (caller.organization !== BOOTSTRAP_ORGANIZATION) {
      throw errors.forbidden('Only keys of the first organization grant credits.');
    }
    const organizationId = await findOrganization(db, body.organization);
    if (organizationId === undefined) throw errors.notFound('organization');
    const account = await db.transaction(async (tx) => {
      await ensureAccount(tx, organizationId, settings.initialCredits);
      return grantCredits(tx, organizationId, body.amount);
    });
    return { status: 200, body: { data: account } };
  });

  registerRoute(app, deps, videoRoutes.getWebhookSecret, async ({ caller }) => {
    await ensureAccount(db, caller.organizationId, settings.initialCredits);
    return { status: 200, body: { data: { secret: await ensureWebhookSecret(deps, caller.organizationId) } } };
  });
}
