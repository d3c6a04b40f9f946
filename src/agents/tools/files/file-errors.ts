import { SandboxFileError } from '../../../sandbox/sandbox.ts';
import type { FileStat, SandboxSession } from '../../../sandbox/sandbox.ts';
import { failTool } from '../tool.ts';
import type { ToolOutcome } from '../tool.ts';

/** What the model did wrong becomes an outcome; a failure of the sandbox itself goes on up. */
export async function catchFileErrors(act: () => Promise<ToolOutcome>): Promise<ToolOutcome> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof SandboxFileError)) throw error;
    const hint = error.code === 'ESCAPE' ? '. Only files of the workspace can be used here.' : '';
    return failTool(error.message + hint);
  }
}

/** The path as commands of the sandbox see it. */
export function absolutePath(sandbox: SandboxSession, stat: Pick<FileStat, 'path'>): string {
  return stat.path === '.' ? sandbox.workspace : `${sandbox.workspace}/${stat.path}`;
}

/** A key for locks and conflicts: the same file by another spelling has the same key, links aside. */
export function pathKey(path: string): string {
  return path
    .replace(/^(~|\/workspace)(?=\/|$)/, '')
    .split('/')
    .filter((part) => part !== '' && part !== '.')
    .join('/');
}
