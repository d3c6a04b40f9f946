// Tests: test/gateway/hooks.test.ts
import type { FastifyRequest } from 'fastify';
import type { ModelReply } from '../../inference/model.ts';
import { isRecord } from '../../platform/records.ts';
import { readBody } from '../body.ts';
import type { ClientCall, JsonObject, ResponseMeta } from '../dialects/dialect.ts';
import type { ClientStream } from '../stream.ts';
import type { HookCall } from './hook.ts';
import type { Hooks, ResponseGuard } from './hooks.ts';

/** Describes a call to the hooks. */
export function describeCall(http: FastifyRequest, format: string, request: JsonObject): HookCall {
  const { caller, id } = http;
  const { model, stream } = request;
  return {
    requestId: id,
    organizationId: caller?.organizationId ?? '',
    keyId: caller?.keyId ?? '',
    format,
    model: typeof model === 'string' ? model : '',
    stream: stream === true,
    request,
  };
}

/** The body to answer: the client's, or what hooks replaced it by. Throws a `GatewayError` if a hook refuses it. */
export async function inspectRequest(
  hooks: Hooks | undefined,
  format: string,
  http: FastifyRequest,
): Promise<JsonObject> {
  const body = readBody(http);
  if (hooks === undefined) return body;
  const inspected = await hooks.inspectRequest(describeCall(http, format, body));
  if (inspected === body) return body;
  // What is forwarded and what is cached go by the bytes.
  http.rawBody = Buffer.from(JSON.stringify(inspected));
  http.bodyBytes = http.rawBody.length;
  http.body = inspected;
  return inspected;
}

/** Asks the hooks about a whole reply that is streamed. */
export function buildReplyCheck(
  guard: ResponseGuard | undefined,
  call: ClientCall,
  meta: ResponseMeta,
): ((reply: ModelReply) => Promise<unknown>) | undefined {
  return guard && ((reply) => guard.inspect(call.buildFinal(reply, meta)));
}

/** The body of a response, as the hooks leave it. */
export async function inspectText(guard: ResponseGuard | undefined, text: string): Promise<string> {
  if (guard === undefined) return text;
  const response: unknown = JSON.parse(text);
  if (!isRecord(response)) return text;
  const inspected = await guard.inspect(response);
  return inspected === response ? text : JSON.stringify(inspected);
}

/** The same stream, of which nothing but keepalives is sent before it ends. */
export function holdStream(stream: ClientStream): ClientStream {
  let held = '';
  return {
    ...stream,
    write(frames) {
      held += frames;
      return undefined;
    },
    end(frames) {
      stream.end(held + frames);
    },
  };
}
