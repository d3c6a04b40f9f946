// Tests: test/gateway/allowed-models.test.ts
import type { FastifyRequest } from 'fastify';
import type { GatewayInference } from '../inference/inference.ts';
import type { ModelInfo } from '../inference/model.ts';
import { unknownModel } from './gateway-error.ts';
import type { GatewayDeps } from './deps.ts';

/** Whether a text fits a pattern in which `*` stands for any characters. Takes linear time. */
export function matchesPattern(pattern: string, text: string): boolean {
  const [first = '', ...parts] = pattern.split('*');
  if (!text.startsWith(first)) return false;
  const last = parts.pop();
  if (last === undefined) return text === pattern;
  let at = first.length;
  for (const part of parts) {
    const found = text.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}

/** Whether the key of a request may use a model. */
export function mayUse({ caller }: Pick<FastifyRequest, 'caller'>, model: string): boolean {
  const patterns = caller?.models ?? null;
  return patterns === null || patterns.some((pattern) => matchesPattern(pattern, model));
}

/** The models of the caller's organization. */
export function inferenceOf(
  { inference }: Pick<GatewayDeps, 'inference'>,
  { caller }: Pick<FastifyRequest, 'caller'>,
): GatewayInference {
  return caller === undefined ? inference : inference.forOrganization(caller.organizationId);
}

/** Throws `model_not_found` for a model that does not exist or that the key may not use. */
export function requireModel(deps: Pick<GatewayDeps, 'inference'>, request: FastifyRequest, name: string): ModelInfo {
  const info = inferenceOf(deps, request).findModel(name);
  if (info === undefined || !mayUse(request, name)) throw unknownModel(name);
  return info;
}
