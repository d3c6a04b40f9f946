import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PASSWORD } from '../app.ts';
import type { App, RunningApp, Start } from '../app.ts';

const SERVER = fileURLToPath(new URL('better-auth/server.ts', import.meta.url));

/** One person per sign-in method. */
export const MEMBERS = { password: 'ada@example.com', authenticator: 'grace@example.com', mail: 'mary@example.com' };

export type Settings = Start & { password: string; people: string[]; authenticator: string };

/** A TypeScript library: passwords, codes and links by email, authenticators and passkeys, through JSON calls. */
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

/** The setup of that person's authenticator: `otpauth://…`. */
export function readAuthenticator({ scratch }: RunningApp): string {
  return readFileSync(join(scratch, 'authenticator'), 'utf8');
}
