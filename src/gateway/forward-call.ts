import type { FastifyReply, FastifyRequest } from 'fastify';
import type { CallOptions } from '../inference/model.ts';
import type { PassThroughCall } from '../inference/pass-through.ts';
import { inferenceOf } from './allowed-models.ts';
import { readBody } from './body.ts';
import type { GatewayDeps } from './deps.ts';
import type { ClientCall, ClientDialect, JsonObject, ResponseMeta } from './dialects/dialect.ts';
import type { PassThroughReply } from './pass-through.ts';

/** Request headers that are forwarded to upstreams of the same format. */
const FORWARDED = ['anthropic-beta'];

/** How the call is forwarded unchanged; undefined: it is translated. Throws the call's `refusal`. */
export function findPassThrough(
  deps: GatewayDeps,
  { dialect, call, meta }: { dialect: ClientDialect; call: ClientCall; meta: ResponseMeta },
  request: FastifyRequest,
  onRequestId: (requestId: string) => void,
): PassThroughReply | undefined {
  const { body, headers, caller, rawBody } = request;
  if (call.passThrough === undefined) return undefined;
  const { refusal, anyOfFormat = false, buildBody } = call.passThrough;
  const sent = FORWARDED.flatMap((name) => (typeof headers[name] === 'string' ? [[name, headers[name]] as const] : []));
  const forwarded: PassThroughCall = {
    format: dialect.name,
    headers: Object.fromEntries(sent),
    raw: rawBody && { bytes: rawBody, parsed: readBody(request) },
    buildBody: (target) => {
      const { models: _models, ...own } = buildBody(body as JsonObject, target);
      return own;
    },
  };
  const organization = caller?.organizationId ?? '';
  const open = inferenceOf(deps, request).findPassThrough(call.request, forwarded, {
    force: anyOfFormat,
    organization,
    onRequestId,
  });
  if (open !== undefined) return { open, writer: call.passThrough.open(meta) };
  if (refusal !== undefined) throw refusal;
  return undefined;
}

/** The provider's request ids, so that clients can quote them. */
export function sendRequestId(reply: FastifyReply): (requestId: string) => void {
  return (requestId) => {
    if (!reply.raw.headersSent) void reply.header('x-upstream-request-id', requestId);
  };
}

export function readOptions({ caller }: FastifyRequest, reply: FastifyReply): CallOptions {
  return { organization: caller?.organizationId ?? '', onRequestId: sendRequestId(reply) };
}
