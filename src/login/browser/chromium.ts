import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { StartupError } from '../../platform/errors.ts';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome', 'chromium-headless-shell'];

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * The browser's program: the configured one, or the first on the search path. Undefined where there is none.
 * Throws a `StartupError` when the configured one is not executable.
 */
export function findChromium(named: string | undefined, searchPath: string): string | undefined {
  if (named !== undefined) {
    if (isProgram(named)) return named;
    throw new StartupError(`Bad setting: CAPSTAN_CHROMIUM: no program at ${named}.`);
  }
  const folders = searchPath.split(delimiter).filter((folder) => folder !== '');
  return NAMES.flatMap((name) => folders.map((folder) => join(folder, name))).find(isProgram);
}

/**
 * Arguments of every browser. Only the proxies resolve names, nothing bypasses them, and nothing
 * uses UDP. `noSandbox`: Chromium cannot create its sandbox as root.
 */
export function buildChromiumArguments({ noSandbox }: { noSandbox: boolean }): string[] {
  return [
    ...(noSandbox ? ['--no-sandbox'] : []),
    '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
    '--disable-quic',
    '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
    '--webrtc-ip-handling-policy=disable_non_proxied_udp',
    '--dns-prefetch-disable',
    '--disable-background-networking',
    '--disable-domain-reliability',
    '--disable-sync',
    '--no-pings',
    '--disable-gpu',
    '--disable-3d-apis',
    '--disable-file-system',
    '--disable-notifications',
    '--disable-remote-fonts',
    '--autoplay-policy=user-gesture-required',
    '--mute-audio',
    '--js-flags=--max-old-space-size=256',
  ];
}
