import { parseAllDocuments } from 'yaml';
import { extensionOf } from './text.ts';

export type Lint = { status: 'ok' | 'error' | 'skipped'; output?: string; message?: string };

const CHECKS: Record<string, (text: string) => string | undefined> = {
  json: (text) => {
    try {
      JSON.parse(text);
      return undefined;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  },
  yaml: checkYaml,
  yml: checkYaml,
};

function checkYaml(text: string): string | undefined {
  return parseAllDocuments(text, { logLevel: 'silent' }).flatMap((document) => document.errors)[0]?.message;
}

/** Past this a check would hold the process up. */
const MAX_CHARACTERS = 1_000_000;

/** JSON and YAML. An error that the file had before is not held against the change. */
export function lintText(path: string, text: string, before: string | undefined): Lint {
  const check = CHECKS[extensionOf(path)];
  if (check === undefined)
    return { status: 'skipped', message: `no check for .${extensionOf(path) || 'this kind'} files` };
  if (text.length > MAX_CHARACTERS) return { status: 'skipped', message: 'the file is too big to check' };
  const problem = check(text);
  if (problem === undefined) return { status: 'ok' };
  if (before !== undefined && check(before) === problem) return { status: 'ok', message: 'no new errors' };
  return { status: 'error', output: problem.slice(0, 500) };
}
