import { z } from 'zod';
import { listScopes } from '../../platform/contract/route.ts';
import type { Route } from '../../platform/contract/route.ts';
import type { Json, Operation } from './operation.ts';
import { providerRoutes } from './providers.ts';
import { upstreamRoutes } from './upstreams.ts';

/** The fields of the agent service's error body that these operations use. */
const NativeError = z.object({ error: z.string(), message: z.string() }).meta({ id: 'ModelProviderError' });

const METHODS = { GET: 'get', POST: 'post', PATCH: 'patch', DELETE: 'delete' } as const;

function listParameters(schema: z.ZodType | undefined, place: 'path' | 'query'): Json[] {
  if (schema === undefined) return [];
  const { properties = {}, required = [] } = z.toJSONSchema(schema, { io: 'input' });
  return Object.entries(properties).map(([name, described]) => ({
    name,
    in: place,
    required: required.includes(name),
    schema: described,
  }));
}

/** An operation in the notation of the other services. */
function describeRoute(route: Route): Operation {
  const { id, method, path, tag, summary, body, params, query } = route;
  const [[status, answer] = []] = Object.entries(route.responses);
  const name = Object.entries(METHODS).find(([upper]) => upper === method)?.[1];
  if (name === undefined || typeof answer !== 'object') throw new Error(`${id} cannot be described here.`);
  return {
    id,
    method: name,
    path,
    tag,
    summary,
    answer,
    error: NativeError,
    status: Number(status),
    scopes: listScopes(route),
    parameters: [...listParameters(params, 'path'), ...listParameters(query, 'query')],
    ...(body === undefined ? {} : { body }),
  };
}

/** Operations in the shapes of the agent service. */
export const NATIVE_OPERATIONS: readonly Operation[] = [
  ...Object.values<Route>(providerRoutes),
  ...Object.values<Route>(upstreamRoutes),
].map(describeRoute);
