import { execFile } from 'node:child_process';
import { chmodSync, chownSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../..');
const MAX_OUTPUT = 8 * 1024 * 1024;
/** In no range that sandboxes get their users from. */
const UID = 61_234;
/** Every Linux has it. */
const STAGE = '/mnt';

/**
 * The checkout and a folder for temporary files are mounted where the user reaches them, in a mount namespace of their own:
 * the checkout may lie where only root can read.
 */
const AS_USER = `set -eu
stage=$1 uid=$2 root=$3 temporary=$4
shift 4
mount -t tmpfs -o mode=0755,size=1m none "$stage"
mkdir "$stage/root" "$stage/tmp"
mount --bind "$root" "$stage/root"
mount --bind "$temporary" "$stage/tmp"
cd "$stage/root"
exec setpriv --reuid="$uid" --regid="$uid" --clear-groups --inh-caps=-all --bounding-set=-all -- \
  env -i PATH="$stage/root/node_modules/.bin:/usr/bin:/bin" HOME="$stage/tmp" TMPDIR="$stage/tmp" LANG=C.UTF-8 node "$@"`;

/**
 * Runs a program of this repository with Node as a user without privileges, who has a temporary folder alone. For root.
 * Resolves with its standard output, rejects when it fails.
 */
export async function runAsUser(args: readonly string[]): Promise<string> {
  const temporary = mkdtempSync(join(tmpdir(), 'capstan-user-'));
  chownSync(temporary, UID, UID);
  chmodSync(temporary, 0o700);
  try {
    const script = ['sh', '-c', AS_USER, 'as-user', STAGE, String(UID), ROOT, temporary, ...args];
    const { stdout } = await promisify(execFile)('unshare', ['--mount', '--propagation', 'private', '--', ...script], {
      maxBuffer: MAX_OUTPUT,
    });
    return stdout;
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}
