import type { FastifyInstance } from 'fastify';
import { sendKeysChanged } from '../bus/key-changes.ts';
import { buildAnyList } from '../contract/common.ts';
import { keyRoutes } from '../contract/key-routes.ts';
import { ApiKeyRotate } from '../contract/keys.ts';
import type { Scope } from '../contract/keys.ts';
import { errors } from '../errors.ts';
import { BOOTSTRAP_ORGANIZATION, createKey, listKeys, revokeKey } from '../store/keys.ts';
import { findKey, listOrganizations, patchKey, rotateKey } from '../store/key-updates.ts';
import type { KeyRef } from '../store/key-updates.ts';
import type { Caller, HttpDeps, HttpPorts } from './deps.ts';
import { registerRoute, requireScope } from './route.ts';

/** The one organization whose keys the caller manages, or null for all of them. */
function findManaged(caller: Caller): string | null {
  const isOwner = caller.scopes.includes('owner');
  return caller.organization === BOOTSTRAP_ORGANIZATION && isOwner ? null : caller.organizationId;
}

/** A caller cannot grant more scopes than it has; an admin key counts as the owner. */
function checkGrantable(caller: Caller, scopes: readonly Scope[]): void {
  if (scopes.some((scope) => scope === 'admin' || scope === 'owner')) requireScope(caller, ['owner']);
}

export function registerKeyRoutes(app: FastifyInstance, deps: HttpPorts & HttpDeps): void {
  const { db, bus } = deps;

  registerRoute(app, deps, keyRoutes.listApiKeys, async ({ query, caller }) => {
    const found = await listKeys(db, query, findManaged(caller));
    return { status: 200, body: buildAnyList(found.rows, query, found) };
  });

  registerRoute(app, deps, keyRoutes.createApiKey, async ({ body, caller }) => {
    const organization = body.organization ?? caller.organization;
    if (findManaged(caller) !== null && organization !== caller.organization) {
      throw errors.forbidden('The API key may only manage the keys of its own organization.');
    }
    checkGrantable(caller, body.scopes ?? []);
    const key = await createKey(db, { ...body, organization });
    sendKeysChanged(bus);
    return { status: 201, body: key };
  });

  /** The key that the caller may change. Throws `not_found`, `invalid_state` or `forbidden`. */
  async function findChangeable(caller: Caller, id: string): Promise<KeyRef> {
    const ref = { id, organizationId: findManaged(caller) };
    const key = await findKey(db, ref);
    if (key === undefined) throw errors.notFound('key');
    if (key.revokedAt !== null) throw errors.invalidState('The key is revoked.');
    checkGrantable(caller, key.scopes);
    return ref;
  }

  registerRoute(app, deps, keyRoutes.patchApiKey, async ({ params, body, caller }) => {
    checkGrantable(caller, body.scopes ?? []);
    const key = await patchKey(db, await findChangeable(caller, params.keyId), body);
    if (key === undefined) throw errors.notFound('key');
    sendKeysChanged(bus);
    return { status: 200, body: key };
  });

  registerRoute(app, deps, keyRoutes.rotateApiKey, async ({ params, body, caller }) => {
    const { gracePeriodSeconds } = ApiKeyRotate.parse(body ?? {});
    const key = await rotateKey(db, await findChangeable(caller, params.keyId), gracePeriodSeconds);
    if (key === undefined) throw errors.notFound('key');
    sendKeysChanged(bus);
    return { status: 200, headers: { 'cache-control': 'no-store' }, body: key };
  });

  registerRoute(app, deps, keyRoutes.listOrganizations, async ({ query, caller }) => {
    const { rows, ...page } = await listOrganizations(db, findManaged(caller), query);
    return { status: 200, body: buildAnyList(rows, query, page) };
  });

  registerRoute(app, deps, keyRoutes.revokeApiKey, async ({ params, caller }) => {
    if (!(await revokeKey(db, params.keyId, findManaged(caller)))) throw errors.notFound('key');
    sendKeysChanged(bus);
    return { status: 200, body: { object: 'api_key.deleted', id: params.keyId, deleted: true } };
  });
}
