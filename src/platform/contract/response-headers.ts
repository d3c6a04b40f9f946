// Tests: test/roles/documents.test.ts
export const RATE_LIMIT_HEADERS = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'];
/** What the headers of answers say. */
export const HEADERS: Record<string, string> = {
  'RateLimit-Limit': 'size of the allowance that limits this request most specifically',
  'RateLimit-Remaining': 'what is left of it in the open window',
  'RateLimit-Reset': 'whole seconds until the window ends',
  'Retry-After': 'whole seconds to wait at least',
  'X-Capstan-Ignored-Fields':
    'fields of the body that the operation does not know and has ignored: up to 20 paths, separated by commas',
  'X-Request-Id': 'names this request in the logs; taken over from the request when it is fit',
};

/** References to headers of the components. */
export function referHeaders(names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
