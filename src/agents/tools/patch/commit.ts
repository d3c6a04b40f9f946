import { createTwoFilesPatch } from 'diff';
import type { FileStat, SandboxSession } from '../../../sandbox/sandbox.ts';
import { lintText } from '../files/lint.ts';
import type { Lint } from '../files/lint.ts';
import { noteWrite } from '../files/seen-files.ts';
import { answerTool, failTool } from '../tool.ts';
import type { ToolContext, ToolOutcome } from '../tool.ts';
import { planPatch } from './plan.ts';
import type { Change } from './plan.ts';
import { parseV4a } from './v4a.ts';

/** Applies a V4A patch: everything is checked, then staged beside its target, and only then renamed into place. */
export async function runV4a(text: string, context: ToolContext): Promise<ToolOutcome> {
  const parsed = parseV4a(text);
  if ('error' in parsed) return failTool(`The patch cannot be read: ${parsed.error}`, { success: false });
  const sandbox = await context.sandbox();
  const { changes, problems } = await planPatch(sandbox, parsed.operations);
  if (problems.length > 0) {
    const list = problems.map((problem) => `  - ${problem}`).join('\n');
    return failTool(`The patch was not applied; nothing was changed:\n${list}`, { success: false });
  }
  const failure = await commit(sandbox, changes, context.callId);
  if (failure !== undefined) return failTool(failure, { success: false });
  const named = (kind: Change['kind']): string[] =>
    changes.filter((change) => change.kind === kind).map((change) => `${sandbox.workspace}/${change.path}`);
  const lint: Record<string, Lint> = {};
  for (const change of changes) {
    if (change.next === undefined) continue;
    const result = lintText(change.path, change.next.text, change.before?.text);
    if (result.status === 'error') lint[change.path] = result;
    const stat = await sandbox.stat(change.path);
    if (stat !== undefined) noteWrite(context.state, stat.path, stat.modifiedMs);
  }
  return answerTool({
    success: true,
    diff: changes.map(describeChange).join('\n'),
    files_modified: named('modified'),
    files_created: named('created'),
    files_deleted: named('deleted'),
    ...(Object.keys(lint).length === 0 ? {} : { lint }),
  });
}

function describeChange({ path, before, next }: Change): string {
  return createTwoFilesPatch(
    before === undefined ? '/dev/null' : `a/${path}`,
    next === undefined ? '/dev/null' : `b/${path}`,
    before?.text ?? '',
    next?.text ?? '',
  );
}

/** Undefined when all of it is done; else why not, and what state the files are in. */
async function commit(sandbox: SandboxSession, changes: Change[], callId: string): Promise<string | undefined> {
  const staged: { change: Change; temporary: string }[] = [];
  const done: Change[] = [];
  try {
    for (const [index, change] of changes.entries()) {
      if (change.next === undefined) continue;
      const folder = change.path.includes('/') ? change.path.slice(0, change.path.lastIndexOf('/') + 1) : '';
      const temporary = `${folder}.capstan-patch-${callId.slice(-16)}-${index}`;
      await sandbox.writeFile(temporary, change.next.bytes, change.mode === undefined ? {} : { mode: change.mode });
      staged.push({ change, temporary });
    }
    for (const change of changes) {
      if (hasMoved(change.stat, await sandbox.stat(change.path)))
        throw new Error(`${change.path} was changed meanwhile`);
    }
    for (const { change, temporary } of staged) {
      await sandbox.moveFile(temporary, change.path, { overwrite: true });
      done.push(change);
    }
    for (const change of changes) {
      if (change.next !== undefined) continue;
      await sandbox.removeFile(change.path);
      done.push(change);
    }
    return undefined;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const left = await undo(sandbox, done, staged);
    return left.length === 0
      ? `The patch was not applied; nothing was changed: ${reason}`
      : `The patch failed half-way and could not be undone in ${left.join(', ')}: ${reason}`;
  }
}

function hasMoved(planned: FileStat | undefined, now: FileStat | undefined): boolean {
  return planned?.modifiedMs !== now?.modifiedMs || (planned === undefined) !== (now === undefined);
}

/** Restores the previous files. Returns the paths where that failed. */
async function undo(
  sandbox: SandboxSession,
  done: Change[],
  staged: { change: Change; temporary: string }[],
): Promise<string[]> {
  const left: string[] = [];
  for (const { change, temporary } of staged) {
    if (!done.includes(change)) await sandbox.removeFile(temporary).catch(() => undefined);
  }
  for (const change of done) {
    const restore =
      change.before === undefined
        ? sandbox.removeFile(change.path)
        : sandbox.writeFile(change.path, change.before.bytes, change.mode === undefined ? {} : { mode: change.mode });
    await restore.catch(() => left.push(change.path));
  }
  return left;
}
