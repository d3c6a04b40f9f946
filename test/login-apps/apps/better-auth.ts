import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PASSWORD } from '../app.ts';
import type { App, RunningApp, Start } from '../app.ts';

const SERVER = fileURLToPath(new URL('better-auth/server.ts', import.meta.url));

/** Each way to prove who one is has its person. */
export const MEMBERS = { password: 'ada@example.com', authenticator: 'grace@example.com', mail: 'mary@example.com' };

export type Settings = Start & { password: string; people: string[]; authenticator: string };

/** Of TypeScript: passwords, codes and links by email, authenticators and passkeys, through calls in JSON. */
export const BETTER_AUTH: App = {
  name: 'better-auth',
  file: fileURLToPath(import.meta.resolve('better-auth')),
  package: 'better-auth',
  prepare(start) {
    const { authenticator } = MEMBERS;
    const settings: Settings = { ...start, password: PASSWORD, people: Object.values(MEMBERS), authenticator };
    return { command: process.execPath, args: ['--no-warnings', SERVER, JSON.stringify(settings)] };
  },
};

/** What the authenticator of its person is set up by: `otpauth://…`. */
export function readAuthenticator({ scratch }: RunningApp): string {
  return readFileSync(join(scratch, 'authenticator'), 'utf8');
}
