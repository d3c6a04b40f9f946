import type { FastifyRequest } from 'fastify';
import { ApiError, errors } from '../../platform/errors.ts';
import { CursorPage, buildCursorList } from '../../platform/contract/common.ts';
import { describeIssues } from '../../platform/contract/validation.ts';
import type { GatewayDeps } from '../deps.ts';
import type { JsonObject } from '../dialects/dialect.ts';
import { GatewayError } from '../gateway-error.ts';
import { findRequest, listRequests } from '../store/requests.ts';
import type { RequestRecord } from '../store/requests.ts';

const MAX_TAGS = 10;
const TAG = /^[\w.:=/@-]{1,64}$/;

/**
 * Tags from the header `x-capstan-tags`, separated by commas. Characters other than letters, digits and `.:=/@_-` are
 * dropped.
 */
export function readTags({ headers }: FastifyRequest): string[] {
  const header = headers['x-capstan-tags'];
  if (typeof header !== 'string') return [];
  const tags = header.split(',').map((tag) => tag.trim());
  return [...new Set(tags.filter((tag) => TAG.test(tag)))].slice(0, MAX_TAGS);
}

function buildRecord(record: RequestRecord): JsonObject {
  return { object: 'gateway.request', id: record.requestId, ...record };
}

function requireOrganization({ caller }: FastifyRequest): string {
  if (caller === undefined) throw errors.unauthorized();
  return caller.organizationId;
}

/** `GET /v1/requests`: the organization's calls, newest first. */
export async function listRequestLog({ db }: GatewayDeps, request: FastifyRequest): Promise<JsonObject> {
  const organizationId = requireOrganization(request);
  const page = CursorPage.safeParse(request.query);
  if (!page.success) throw new ApiError('validation_error', describeIssues(page.error, 'query'));
  const { rows, nextCursor } = await listRequests(db, organizationId, page.data);
  return buildCursorList(rows.map(buildRecord), page.data, nextCursor);
}

/** `GET /v1/requests/{requestId}`. */
export async function getRequestLog({ db }: GatewayDeps, request: FastifyRequest): Promise<JsonObject> {
  const { requestId } = request.params as { requestId: string };
  const found = await findRequest(db, { organizationId: requireOrganization(request), requestId });
  if (found === undefined) throw new GatewayError('not_found', 'No request has this id, or it is older than 30 days.');
  return buildRecord(found);
}
