// Tests: test/gateway/providers.test.ts
import type { FastifyInstance } from 'fastify';
import { ProviderConfig } from '../../inference/config.ts';
import { buildCursorList } from '../../platform/contract/common.ts';
import { findEgressError } from '../../platform/egress/error.ts';
import type { Egress } from '../../platform/egress/egress.ts';
import { errors } from '../../platform/errors.ts';
import type { Queryable } from '../../platform/db/db.ts';
import { hasRoom } from '../../platform/store/own-limit.ts';
import type { HttpDeps } from '../../platform/http/deps.ts';
import { registerRoute } from '../../platform/http/route.ts';
import { newId } from '../../platform/ids.ts';
import type { Logger } from '../../platform/log.ts';
import type { MasterKeys } from '../../platform/master-key.ts';
import { omitUndefined } from '../../platform/records.ts';
import { providerRoutes } from '../contract/providers.ts';
import type { ProviderCreate, ProviderProbe } from '../contract/providers.ts';
import * as store from '../store/providers.ts';
import type { ProviderRef, ProviderSettings, StoredProvider } from '../store/providers.ts';
import { openConfig, readSecret, requireFitting, requireOwnSecret, withSecretKind } from './credentials.ts';
import type { LiveProviders } from './live-providers.ts';
import { probeProvider } from './probe.ts';

/** Dependencies besides the gateway's own ports. */
export type ProviderPorts = { live: LiveProviders; masterKeys: MasterKeys; egress: Egress };

type Deps = HttpDeps & ProviderPorts & { log: Logger };

/** Maximum number of providers of one organization. */
const MAX_PROVIDERS = 50;

function listModelSettings(models: ProviderCreate['models']): ProviderSettings['models'] {
  return models?.map((model) => (typeof model === 'string' ? { id: model } : model));
}

/** Without credentials. Throws `validation_error` if format or address are missing. */
function readSettings({
  name: _name,
  apiKey: _key,
  probe: _probe,
  models,
  aws,
  google,
  ...given
}: ProviderCreate): ProviderSettings {
  const access = omitUndefined({
    aws: aws && { region: aws.region },
    google: google && { project: google.project, location: google.location },
  });
  const result = ProviderConfig.safeParse({ ...given, ...access, models: listModelSettings(models) });
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const path = issue?.path.join('.') ?? 'format';
  throw errors.validation(`body.${path}: is required, unless a preset sets it`);
}

/** Throws `validation_error` for an address that callers may not name. */
async function checkAddress(egress: Egress, baseUrl: string): Promise<void> {
  try {
    await egress.check(baseUrl);
  } catch (error) {
    const refused = findEgressError(error);
    if (refused === undefined) throw error;
    throw errors.validation(`body.baseUrl: ${refused.message}`);
  }
}

/** Throws `validation_error` for a provider that rejects the credentials or does not answer. */
async function requireAnswer(config: ProviderConfig, deps: Deps): Promise<ProviderProbe> {
  const { probe, field } = await probeProvider(config, deps);
  if (probe.status === 'rejected') throw errors.validation(`body.${field}: ${probe.message ?? ''}`);
  if (probe.status === 'unreachable') {
    throw errors.validation(`body.${field}: ${probe.message ?? ''} Set probe to false to save it anyway.`);
  }
  return probe;
}

/** Throws `validation_error` where the organization may have no more. */
async function requireRoom(tx: Queryable, organizationId: string): Promise<void> {
  if (await hasRoom(tx, 'model_providers', { organizationId, limit: MAX_PROVIDERS })) return;
  throw errors.validation(`body: an organization has at most ${MAX_PROVIDERS} providers`);
}

async function requireProvider(deps: Deps, ref: ProviderRef): Promise<StoredProvider> {
  const stored = await store.findStoredProvider(deps.db, ref);
  if (stored === undefined) throw errors.notFound('provider');
  return stored;
}

/**
 * Routes for the organization's own providers. A change is active in this process when the response is sent; in others
 * soon after.
 */
export function registerProviderRoutes(app: FastifyInstance, deps: Deps): void {
  const { db, live, masterKeys, egress } = deps;

  registerRoute(app, deps, providerRoutes.createProvider, async ({ body, caller }) => {
    const given = readSecret(body);
    const read = readSettings(body);
    requireFitting(read, given);
    requireOwnSecret(read, given);
    const settings = given === undefined ? read : withSecretKind(read, given);
    const { organizationId } = caller;
    await checkAddress(egress, settings.baseUrl);
    // before the provider is called; the insert asks again
    await db.transaction((tx) => requireRoom(tx, organizationId));
    const id = newId('prv');
    const { name } = body;
    const secret = given === undefined ? null : masterKeys.seal(given.text, store.providerContext(id));
    const stored = { id, organizationId, name, settings, secret };
    const probe = body.probe ? await requireAnswer(openConfig(stored, masterKeys), deps) : null;
    const provider = await db.transaction(async (tx) => {
      await requireRoom(tx, organizationId);
      return store.insertProvider(tx, stored, probe);
    });
    if (provider === undefined) throw errors.conflict(`The organization has a provider ${name}.`);
    await live.publish();
    return { status: 201, body: provider };
  });

  registerRoute(app, deps, providerRoutes.listProviders, async ({ query, caller }) => {
    const { rows, nextCursor } = await store.listProviders(db, caller.organizationId, query);
    return { status: 200, body: buildCursorList(rows, query, nextCursor) };
  });

  registerRoute(app, deps, providerRoutes.getProvider, async ({ params, caller }) => {
    const ref = { organizationId: caller.organizationId, id: params.providerId };
    const provider = await store.findProvider(db, ref);
    if (provider === undefined) throw errors.notFound('provider');
    return { status: 200, body: provider };
  });

  registerRoute(app, deps, providerRoutes.updateProvider, async ({ params, body, caller }) => {
    const ref = { organizationId: caller.organizationId, id: params.providerId };
    const before = await requireProvider(deps, ref);
    const given = readSecret(body);
    requireFitting(before.settings, given);
    const secret = given === undefined ? before.secret : masterKeys.seal(given.text, store.providerContext(ref.id));
    const kept = given === undefined ? before.settings : withSecretKind(before.settings, given);
    const { models: _models, ...others } = kept;
    const models = body.models === undefined ? before.settings.models : listModelSettings(body.models ?? undefined);
    const settings = models === undefined ? others : { ...others, models };
    await checkAddress(egress, settings.baseUrl);
    const probe = body.probe
      ? await requireAnswer(openConfig({ ...before, settings, secret }, masterKeys), deps)
      : null;
    const provider = await store.updateProvider(db, ref, { settings, secret, probe });
    if (provider === undefined) throw errors.notFound('provider');
    await live.publish();
    return { status: 200, body: provider };
  });

  registerRoute(app, deps, providerRoutes.testProvider, async ({ params, caller }) => {
    const ref = { organizationId: caller.organizationId, id: params.providerId };
    const stored = await requireProvider(deps, ref);
    const { probe } = await probeProvider(openConfig(stored, masterKeys), deps);
    const provider = await store.updateProvider(db, ref, { settings: null, secret: null, probe });
    if (provider === undefined) throw errors.notFound('provider');
    return { status: 200, body: provider };
  });

  registerRoute(app, deps, providerRoutes.deleteProvider, async ({ params, caller }) => {
    const ref = { organizationId: caller.organizationId, id: params.providerId };
    if (!(await store.deleteProvider(db, ref))) throw errors.notFound('provider');
    await live.publish();
    return { status: 200, body: { object: 'provider.deleted', id: ref.id, deleted: true } };
  });
}
