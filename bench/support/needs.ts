import { findChromium } from '../../src/login/browser/chromium.ts';
import { findProgram } from '../../test/support/services/process.ts';

/** Requirements of benches, and how to install them. */
export const NEEDS = {
  postgres: 'PostgreSQL (make services)',
  servers: 'PostgreSQL, NATS, Redis and an S3 server (make services)',
  chromium: 'Chromium (make services)',
  ffmpeg: 'ffmpeg (make services)',
} as const;

/** Returns `found`. If it is undefined, prints the requirement in one line and ends the process without measuring. */
export function requireFound<T>(found: T | undefined, need: string): T {
  if (found !== undefined) return found;
  console.log(`Not measured. This bench needs ${need}.`);
  process.exit(0);
}

export function requireProgram(name: string, need: string): string {
  return requireFound(findProgram(name), need);
}

export function requireChromium(): string {
  return requireFound(findChromium(process.env['CAPSTAN_CHROMIUM'], process.env['PATH'] ?? ''), NEEDS.chromium);
}
