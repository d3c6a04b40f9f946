import type { FastifyInstance } from 'fastify';
import { buildAnyList } from '../../../platform/contract/common.ts';
import { agentRoutes } from '../../contract/routes/agents.ts';
import { errors } from '../../../platform/errors.ts';
import { setProduction } from '../../store/agents.ts';
import { deleteTag, listTags, setTag } from '../../store/tags.ts';
import { listVersions } from '../../store/versions.ts';
import type { VersionSummary } from '../../store/versions.ts';
import type { ApiDeps } from '../deps.ts';
import { registerRoute } from '../../../platform/http/route.ts';
import { archivedAgent, getActiveAgent, getAgent, getVersion } from './find.ts';
import { buildVersion, buildVersionFull } from './render.ts';

function buildPointer(version: VersionSummary) {
  return { label: 'production', version: version.version, agentVersionId: version.id };
}

/** Versions, the production pointer and development tags. */
export function registerVersionRoutes(app: FastifyInstance, deps: ApiDeps): void {
  const { db } = deps;

  registerRoute(app, deps, agentRoutes.listVersions, async ({ params, query, caller }) => {
    const agent = await getAgent(db, caller.organizationId, params.agentId);
    const found = await listVersions(db, agent.id, query);
    return { status: 200, body: buildAnyList(found.rows.map(buildVersion), query, found) };
  });

  registerRoute(app, deps, agentRoutes.getVersion, async ({ params, caller }) => {
    const agent = await getAgent(db, caller.organizationId, params.agentId);
    return { status: 200, body: buildVersionFull(await getVersion(db, agent, Number(params.version))) };
  });

  registerRoute(app, deps, agentRoutes.getProduction, async ({ params, caller }) => {
    const agent = await getAgent(db, caller.organizationId, params.agentId);
    return { status: 200, body: buildPointer(await getVersion(db, agent, agent.productionVersion)) };
  });

  registerRoute(app, deps, agentRoutes.setProduction, async ({ params, body, caller }) => {
    const agent = await getActiveAgent(db, caller.organizationId, params.agentId);
    const version = await getVersion(db, agent, body.version);
    if (!(await setProduction(db, agent.id, version.version))) throw archivedAgent();
    return { status: 200, body: buildPointer(version) };
  });

  registerRoute(app, deps, agentRoutes.listTags, async ({ params, query, caller }) => {
    const agent = await getAgent(db, caller.organizationId, params.agentId);
    const found = await listTags(db, agent.id, query);
    return { status: 200, body: buildAnyList(found.rows, query, found) };
  });

  registerRoute(app, deps, agentRoutes.setTag, async ({ params, body, caller }) => {
    const agent = await getActiveAgent(db, caller.organizationId, params.agentId);
    const version = await getVersion(db, agent, body.version);
    const tag = await setTag(db, agent.id, params.tagName, version.version);
    if (tag === undefined) throw archivedAgent();
    return { status: 200, body: tag };
  });

  registerRoute(app, deps, agentRoutes.deleteTag, async ({ params, caller }) => {
    const agent = await getActiveAgent(db, caller.organizationId, params.agentId);
    if (!(await deleteTag(db, agent.id, params.tagName))) throw errors.notFound('tag');
    return { status: 200, body: { object: 'agent.tag.deleted', name: params.tagName, deleted: true } };
  });
}
