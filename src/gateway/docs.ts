import type { FastifyInstance } from 'fastify';
import { buildInferenceDocument } from '../contract/inference/document.ts';

/** The OpenAPI document; open, without a key. */
export function registerGatewayDocs(app: FastifyInstance, paths: readonly string[]): void {
  let text: string | undefined;
  for (const path of paths) {
    app.get(path, (_request, reply) =>
      reply.type('application/json; charset=utf-8').send((text ??= JSON.stringify(buildInferenceDocument()))),
    );
  }
}
