import { buildWebsiteAccounts } from '../login/accounts.ts';
import { findChromium } from '../login/browser/chromium.ts';
import { openFleet } from '../login/browser/fleet.ts';
import type { LoginPorts } from '../login/deps.ts';
import { buildLogin } from '../login/server.ts';
import { readServerOptions, serve } from './role.ts';
import type { RoleContext, Started } from './role.ts';

/** `warm`: a browser stands ready before the first login. */
export function openLoginPorts({ config, backends, lifecycle, log }: RoleContext, warm: boolean): LoginPorts {
  const { chromium, searchPath, methods, concurrency } = config.login;
  const program = findChromium(chromium, searchPath);
  if (program === undefined) log.warn('no Chromium found: every website login will answer 503; set CAPSTAN_CHROMIUM');
  // Chromium cannot make its sandbox as root.
  const noSandbox = process.getuid?.() === 0;
  const fleet = lifecycle.use(
    'browsers',
    openFleet({ ...backends, log }, { program, noSandbox, maxJobs: concurrency, warm }),
  );
  return { ...backends, log, fleet, methods };
}

/** Signs in for agents, in browsers of this process; none of them runs before the first login. */
export function openWebsiteAccounts(context: RoleContext) {
  return buildWebsiteAccounts(() => openLoginPorts(context, false));
}

export function startLogin(context: RoleContext): Promise<Started> {
  return serve(context, 'login', buildLogin(openLoginPorts(context, true), readServerOptions(context)));
}
