import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser } from 'playwright-core';
import { errorText } from '../../platform/errors.ts';
import type { Logger } from '../../platform/log.ts';
import { buildChromiumArguments } from './chromium.ts';
import { BROWSER_FOLDER } from './leftovers.ts';

export type BrowserOptions = {
  program: string;
  noSandbox: boolean;
  /** in addition to the defaults; tests trust certificates with it */
  extraArguments?: readonly string[];
};

/** One browser process with all its children. */
export type LoginBrowser = {
  browser: Browser;
  /** of the browser process, which leads its own process group */
  pid: number;
  /** the `user-agent` that sites see */
  userAgent: string;
  /** Ends the browser, by force when it does not exit. Never throws. */
  close(): Promise<void>;
};

const LAUNCH_TIMEOUT_MS = 30_000;
const CLOSE_TIMEOUT_MS = 3000;

/** The SDK takes a third of a second to load, so it is loaded with the first browser. */
const loadSdk = () => import('playwright-core');

/** Throws when the program does not start. */
export async function launchBrowser(options: BrowserOptions, log: Logger): Promise<LoginBrowser> {
  // The SDK would leave its own folder behind when the browser is killed.
  const folder = await mkdtemp(join(tmpdir(), BROWSER_FOLDER));
  const remove = () => rm(folder, { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined);
  try {
    return await launchIn(folder, options, log, remove);
  } catch (error) {
    await remove();
    throw error;
  }
}

async function launchIn(
  folder: string,
  options: BrowserOptions,
  log: Logger,
  remove: () => Promise<void>,
): Promise<LoginBrowser> {
  const { chromium } = await loadSdk();
  const browser = await chromium.launch({
    executablePath: options.program,
    artifactsDir: folder,
    chromiumSandbox: !options.noSandbox,
    args: [
      ...buildChromiumArguments(options),
      // It also marks the owner of the folder, so that leftovers of ended browsers can be found.
      `--disk-cache-dir=${join(folder, 'cache')}`,
      ...(options.extraArguments ?? []),
    ],
    // Requests outside of jobs fail: nothing listens on the discard port.
    proxy: { server: 'http://127.0.0.1:9' },
    timeout: LAUNCH_TIMEOUT_MS,
    handleSIGHUP: false,
    handleSIGINT: false,
    handleSIGTERM: false,
  });
  const pid = await findPid(browser).catch(async (error: unknown) => {
    await browser.close().catch(() => undefined);
    throw error;
  });
  const [major = '0'] = browser.version().split('.');
  let closing: Promise<void> | undefined;
  const end = async () => {
    const gone = browser.close().catch(() => undefined);
    await Promise.race([gone, sleep(CLOSE_TIMEOUT_MS, undefined, { ref: false })]);
    killGroup(pid, log);
    // The browser has ended; the SDK still removes its profile.
    await Promise.race([gone, sleep(CLOSE_TIMEOUT_MS, undefined, { ref: false })]);
    await remove();
  };
  return {
    browser,
    pid,
    userAgent: `Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${major}.0.0.0 Safari/537.36`,
    close: () => (closing ??= end()),
  };
}

async function findPid(browser: Browser): Promise<number> {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  await session.detach();
  const found = processInfo.find(({ type }) => type === 'browser');
  if (found === undefined) throw new Error('the browser does not report its process');
  return found.id;
}

/** Kills the rest of the process group, unless it has already ended. */
function killGroup(pid: number, log: Logger): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') {
      log.warn({ pid, error: errorText(error) }, 'a browser could not be killed');
    }
  }
}
