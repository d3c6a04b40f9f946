import { isLoopback } from '../../platform/http/client-address.ts';
import type { Config } from './config.ts';

const MIN_KEY_LENGTH = 16;

/** Warnings about the role's settings, printed at start. */
export function listWarnings(role: string, { host, apiKey, video }: Config): string[] {
  const warnings: string[] = [];
  if (apiKey !== undefined && apiKey.length < MIN_KEY_LENGTH) {
    warnings.push('CAPSTAN_API_KEY is short enough to be guessed');
  }
  const givesAddresses = role === 'all' || role === 'video';
  if (givesAddresses && video.publicUrl === undefined && !isLoopback(host)) {
    warnings.push(
      `CAPSTAN_PUBLIC_URL is unset while the server listens on ${host}: addresses of videos and uploads begin with the ` +
        'IP address that a request came to',
    );
  }
  return warnings;
}
