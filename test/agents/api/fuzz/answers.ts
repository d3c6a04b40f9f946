import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Document } from '../../../../src/platform/http/docs/document.ts';

/** Describes how a response violates the document; undefined if it does not. */
export function openAnswerCheck(
  document: Document,
): (operationId: string, status: number, body: unknown) => string | undefined {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  ajv.addSchema(document, 'api');
  const operations = new Map(
    Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(
        ([method, operation]) => [operation.operationId, { path, method, operation }] as const,
      ),
    ),
  );
  return (operationId, status, body) => {
    const found = operations.get(operationId);
    const response = found?.operation.responses[status];
    if (found === undefined || response === undefined)
      return `${operationId} answered ${status}, which is not documented`;
    if (!('application/json' in response.content)) return undefined;
    const steps = [
      'paths',
      found.path,
      found.method,
      'responses',
      String(status),
      'content',
      'application/json',
      'schema',
    ];
    const pointer = steps.map((step) => encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/');
    const validate = ajv.getSchema(`api#/${pointer}`);
    if (validate === undefined) return `no schema for ${operationId} ${status}`;
    return validate(body) === true ? undefined : `${operationId} ${status}: ${ajv.errorsText(validate.errors)}`;
  };
}
