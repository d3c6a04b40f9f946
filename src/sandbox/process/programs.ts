import { findProgram } from './find-program.ts';

/** Folders of the machine that sandboxes see. */
const PLACES = ['/usr/local/bin', '/usr/bin', '/bin'];
const NOTABLE =
  'bash python3 pip3 uv node npm deno bun git gcc make cmake go cargo java ruby perl php Rscript curl wget jq sqlite3 psql ' +
  'ffmpeg pandoc unzip zip tar';

/** Languages and common programs that commands in a sandbox of this machine can run. */
export function listPrograms(): string[] {
  return NOTABLE.split(' ').filter((name) => findProgram(PLACES, name) !== undefined);
}
