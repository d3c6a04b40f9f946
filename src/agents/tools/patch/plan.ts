// Tests: test/agents/tools/v4a.test.ts, test/agents/tools/replace.test.ts
import { SandboxFileError } from '../../../sandbox/sandbox.ts';
import type { FileStat, SandboxSession } from '../../../sandbox/sandbox.ts';
import { decodeText, encodeText, isBinary } from '../files/text.ts';
import { refuseReserved } from '../write-file.ts';
import { applyHunks } from './hunks.ts';
import type { Operation } from './v4a.ts';

type Version = { text: string; bytes: Uint8Array };

/** What becomes of one file; `before` is undefined for a new one, `next` for one that goes. */
export type Change = {
  path: string;
  kind: 'created' | 'modified' | 'deleted';
  stat: FileStat | undefined;
  mode: number | undefined;
  before: Version | undefined;
  next: Version | undefined;
};

type Draft = {
  path: string;
  stat: FileStat | undefined;
  before: Version | undefined;
  text: string | undefined;
  mode: number | undefined;
  like: { bom: boolean; crlf: boolean };
};

/** Tries all operations on copies: every problem is found before anything is written. */
export async function planPatch(
  sandbox: SandboxSession,
  operations: Operation[],
): Promise<{ changes: Change[]; problems: string[] }> {
  const drafts = new Map<string, Draft>();
  const problems: string[] = [];

  const open = async (path: string): Promise<Draft> => {
    const refusal = refuseReserved(path);
    if (refusal !== undefined) throw new SandboxFileError('EACCES', refusal);
    const stat = await sandbox.stat(path);
    const key = stat?.path ?? path.replace(/^(~|\/workspace)\//, '');
    const known = drafts.get(key);
    if (known !== undefined) return known;
    const draft: Draft = {
      path: key,
      stat,
      before: undefined,
      text: undefined,
      mode: stat?.mode,
      like: { bom: false, crlf: false },
    };
    if (stat !== undefined) {
      const { bytes } = await sandbox.readFile(path);
      if (isBinary(path, bytes)) throw new SandboxFileError('EINVAL', `${path}: is a binary file`);
      const { text, bom, crlf } = decodeText(bytes);
      Object.assign(draft, { before: { text, bytes }, text, like: { bom, crlf } });
    }
    drafts.set(key, draft);
    return draft;
  };

  const move = async (source: Draft, to: string): Promise<string | undefined> => {
    const target = await open(to);
    if (target === source) return undefined;
    if (target.text !== undefined) return `${to}: already exists`;
    Object.assign(target, { text: source.text, mode: source.mode, like: source.like });
    source.text = undefined;
    return undefined;
  };

  const apply = async (operation: Operation): Promise<string | undefined> => {
    const path = operation.kind === 'move' ? operation.from : operation.path;
    const draft = await open(path);
    if (operation.kind === 'add') {
      if (draft.text !== undefined) return `${path}: already exists`;
      draft.text = operation.content;
      return undefined;
    }
    if (draft.text === undefined) return `${path}: file not found`;
    if (operation.kind === 'move') return move(draft, operation.to);
    if (operation.kind === 'delete') {
      draft.text = undefined;
      return undefined;
    }
    const result = applyHunks(draft.text, operation.hunks);
    if ('error' in result) return `${path}: ${result.error}`;
    draft.text = result.text;
    return operation.moveTo === undefined ? undefined : move(draft, operation.moveTo);
  };

  for (const operation of operations) {
    try {
      const problem = await apply(operation);
      if (problem !== undefined) problems.push(problem);
    } catch (error) {
      if (!(error instanceof SandboxFileError)) throw error;
      problems.push(error.message);
    }
  }
  return { changes: [...drafts.values()].flatMap(toChange), problems };
}

function toChange({ path, stat, before, text, mode, like }: Draft): Change[] {
  if (before?.text === text) return [];
  const next = text === undefined ? undefined : { text, bytes: encodeText(text, like) };
  const kind = before === undefined ? 'created' : next === undefined ? 'deleted' : 'modified';
  return [{ path, kind, stat, mode, before, next }];
}
