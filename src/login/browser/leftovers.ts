import { readFile, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { errorText } from '../../platform/errors.ts';
import type { Logger } from '../../platform/log.ts';

/** Prefix of the folder that a browser writes to, besides its profile. */
export const BROWSER_FOLDER = 'capstan-browser-';
/** Prefix that the SDK gives to profile folders. */
const PROFILE = 'playwright_chromiumdev_profile-';
/** A folder is created right before its browser starts. */
const MIN_AGE_MS = 60_000;

/** Command lines of all processes; undefined on a system that does not show them. */
async function readCommands(): Promise<string | undefined> {
  const names = await readdir('/proc').catch(() => undefined);
  const pids = names?.filter((name) => /^\d+$/.test(name));
  if (pids === undefined || pids.length === 0) return undefined;
  const read = (pid: string) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  return (await Promise.all(pids.map(read))).join('\n');
}

/** Removes profiles and folders of killed browsers: those of our own user that no running process uses. */
export async function removeLeftovers(log: Logger, folder = tmpdir()): Promise<void> {
  try {
    const names = (await readdir(folder)).filter((name) => name.startsWith(PROFILE) || name.startsWith(BROWSER_FOLDER));
    if (names.length === 0) return;
    const commands = await readCommands();
    if (commands === undefined) return;
    for (const name of names.filter((each) => !commands.includes(each))) {
      const path = join(folder, name);
      const found = await stat(path).catch(() => undefined);
      const old = found !== undefined && Date.now() - found.mtimeMs > MIN_AGE_MS;
      if (old && found.uid === process.getuid?.()) await rm(path, { recursive: true, force: true });
    }
  } catch (error) {
    log.warn({ error: errorText(error) }, 'could not remove the folders of ended browsers');
  }
}
