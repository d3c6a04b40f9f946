import { existsSync } from 'node:fs';
import { findFreePort, startServer } from '../support/services/process.ts';
import { makeScratch } from '../support/scratch.ts';
import { openFront } from './front.ts';
import type { Front, Knock } from './front.ts';

export const USER = 'ada';
export const PASSWORD = 'Correct-horse7 & "staple"';

/** Arguments for starting an application. */
export type Start = {
  /** its own, on 127.0.0.1 */
  port: number;
  /** its address for callers */
  url: string;
  /** a folder of its own, removed at the end */
  scratch: string;
  /** its mail server: SMTP on 127.0.0.1 */
  smtpPort: number;
};

/** A real application with a login. */
export type App = {
  name: string;
  /** a file of the package that contains it */
  file: string;
  package: string;
  /** Writes its settings and accounts, and returns the command to run it. */
  prepare(start: Start): Promise<{ command: string; args: string[] }> | { command: string; args: string[] };
  /** polled until it answers */
  readyPath?: string;
};

export type RunningApp = { front: Front; url: string; scratch: string; stop(): Promise<void> };

/**
 * Whether the application is installed. With `CAPSTAN_REQUIRE_ALL=1` it must be, so that nothing is skipped unnoticed.
 */
export function isInstalled(app: Pick<App, 'file' | 'package'>): boolean {
  if (existsSync(app.file)) return true;
  const reason = `${app.package} is not installed: scripts/install-login-apps.sh installs it`;
  if (process.env.CAPSTAN_REQUIRE_ALL === '1') throw new Error(reason);
  process.stderr.write(`Skipped: ${reason}.\n`);
  return false;
}

export async function startApp(app: App, smtpPort = 9): Promise<RunningApp> {
  const port = await findFreePort();
  const front = await openFront(port);
  const scratch = makeScratch(app.name);
  const { command, args } = await app.prepare({ port, url: front.url, scratch, smtpPort });
  const url = `http://127.0.0.1:${port}`;
  const server = await startServer({
    command,
    args,
    scratch,
    url,
    ready: async () => {
      await fetch(url + (app.readyPath ?? '/'), { redirect: 'manual' });
    },
    attempts: 4000,
  });
  return {
    front,
    url: front.url,
    scratch,
    async stop() {
      await front.close();
      await server.stop();
    },
  };
}

export function countAttempts({ front }: RunningApp, isAttempt: (knock: Knock) => boolean): number {
  return front.knocks.filter(isAttempt).length;
}
