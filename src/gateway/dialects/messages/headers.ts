import type { IncomingHttpHeaders } from 'node:http';
import { invalid } from '../../gateway-error.ts';

/** The version in the specification, and the one that the current SDK of the format sends. */
const VERSIONS: readonly unknown[] = ['2023-06-01', '2026-10-21'];

/** Throws `invalid_request` for an unsupported version of the format. */
export function checkVersion(headers: IncomingHttpHeaders): void {
  for (const name of ['provider-version', 'anthropic-version']) {
    const version = headers[name];
    if (version !== undefined && !VERSIONS.includes(version)) {
      throw invalid(`header.${name}`, `must be ${VERSIONS.join(' or ')}`);
    }
  }
}
