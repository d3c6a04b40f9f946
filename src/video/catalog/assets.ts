import type { FastifyInstance } from 'fastify';
import type { Asset } from '../contract/catalog.ts';
import { buildVideoList } from '../contract/common.ts';
import { videoRoutes } from '../contract/routes.ts';
import { registerRoute } from '../../platform/http/route.ts';
import { COMMUNITY, searchAssets } from '../store/assets.ts';
import type { StoredAsset } from '../store/assets.ts';
import type { VideoDeps, VideoPorts } from '../deps.ts';
import { signResult } from '../generations/generation-record.ts';
import { findBase } from '../../platform/http/public-base.ts';

/** More words would not narrow a search further. */
const MAX_WORDS = 8;

export async function buildAsset(ports: Pick<VideoPorts, 'objects'>, base: string, asset: StoredAsset): Promise<Asset> {
  const isPost = asset.scope === COMMUNITY;
  const at = asset.at.getTime();
  return {
    id: asset.id,
    asset_id: asset.assetId,
    asset_s3_key: asset.objectKey,
    asset_url: await signResult(ports, base, asset.objectKey),
    asset_type: asset.assetType,
    prompt: asset.prompt,
    model_name: asset.modelName,
    published_at: isPost ? at : null,
    created_at: isPost ? null : at,
    metadata: asset.metadata,
    source: isPost ? 'community' : 'history',
  };
}

export function registerAssetRoutes(app: FastifyInstance, deps: VideoDeps): void {
  registerRoute(app, deps, videoRoutes.searchAssets, async ({ query, caller, request }) => {
    const own = caller.organizationId;
    const scopes = { all: [COMMUNITY, own], community: [COMMUNITY], history: [own] }[query.source];
    const found = await searchAssets(deps.db, {
      words: query.q.split(/\s+/).slice(0, MAX_WORDS),
      scopes,
      type: query.type === 'all' ? null : query.type,
      limit: query.limit,
      offset: query.offset,
      cursor: query.cursor,
    });
    const list = buildVideoList(found, query);
    const base = findBase(request, deps.settings.publicUrl);
    const data = await Promise.all(list.data.map((asset) => buildAsset(deps, base, asset)));
    return { status: 200, body: { ...list, data } };
  });
}
