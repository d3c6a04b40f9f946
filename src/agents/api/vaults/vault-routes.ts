import type { FastifyInstance } from 'fastify';
import { buildAnyList } from '../../../platform/contract/common.ts';
import { vaultRoutes } from '../../contract/routes/vaults.ts';
import { errors } from '../../../platform/errors.ts';
import { archiveVault, deleteVault, insertVault, listVaults } from '../../store/vaults.ts';
import type { ApiDeps } from '../deps.ts';
import { registerRoute } from '../../../platform/http/route.ts';
import { registerAgentVaultRoutes } from './agent-vault-routes.ts';
import { registerCredentialRoutes } from './credential-routes.ts';
import { getVault } from './find.ts';

export function registerVaultRoutes(app: FastifyInstance, deps: ApiDeps): void {
  const { db } = deps;

  registerRoute(app, deps, vaultRoutes.createVault, async ({ body, caller }) => {
    const { displayName, metadata = {} } = body;
    const { organizationId } = caller;
    return { status: 201, body: await insertVault(db, { organizationId, displayName, metadata }) };
  });

  registerRoute(app, deps, vaultRoutes.listVaults, async ({ query, caller }) => {
    const found = await listVaults(db, caller.organizationId, query);
    return { status: 200, body: buildAnyList(found.rows, query, found) };
  });

  registerRoute(app, deps, vaultRoutes.getVault, async ({ params, caller }) => ({
    status: 200,
    body: await getVault(db, caller.organizationId, params.vaultId),
  }));

  registerRoute(app, deps, vaultRoutes.archiveVault, async ({ params, caller }) => {
    const vault = await archiveVault(db, caller.organizationId, params.vaultId);
    if (vault === undefined) throw errors.notFound('vault');
    return { status: 200, body: vault };
  });

  registerRoute(app, deps, vaultRoutes.deleteVault, async ({ params, caller }) => {
    const outcome = await db.transaction((tx) => deleteVault(tx, caller.organizationId, params.vaultId));
    if (outcome === 'missing') throw errors.notFound('vault');
    if (outcome === 'not_empty') throw errors.conflict('The vault holds credentials.');
    return { status: 200, body: { object: 'vault.deleted', id: params.vaultId, deleted: true } };
  });

  registerCredentialRoutes(app, deps);
  registerAgentVaultRoutes(app, deps);
}
