import { pino } from 'pino';
import type { DestinationStream, Logger, LoggerOptions } from 'pino';
import { currentWorkIds } from './work-context.ts';

export type { Logger };

/** Names of fields whose values never reach a log, at the top and one or two levels down. */
export const SECRET_FIELDS = [
  'apiKey',
  'key',
  'token',
  'accessToken',
  'refreshToken',
  'clientSecret',
  'secret',
  'password',
  'authorization',
  'cookie',
  '["x-api-key"]',
  '["set-cookie"]',
  'totpSecret',
  'masterKey',
  'dataUrl',
];

const paths = SECRET_FIELDS.flatMap((field) => {
  const step = field.startsWith('[') ? field : `.${field}`;
  return [field, `*${step}`, `*.*${step}`];
});

/** JSON lines on stdout, each with the ids of the work that it belongs to; with `pretty`, lines for people. `level` is a pino level or `silent`. */
export function openLog(options: { level: string; pretty: boolean; destination?: DestinationStream }): Logger {
  const settings: LoggerOptions = {
    level: options.level,
    base: null,
    mixin: () => ({ ...currentWorkIds() }),
    redact: { paths, censor: '[redacted]' },
    ...(options.pretty ? { transport: { target: 'pino-pretty', options: { ignore: 'pid,hostname' } } } : {}),
  };
  if (options.pretty) return pino(settings);
  // Written at once: the library writes what is left when the process ends, and retries for ever where nobody reads it.
  return pino(settings, options.destination ?? pino.destination({ dest: process.stdout.fd, sync: true }));
}
