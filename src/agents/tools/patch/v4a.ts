export type Hunk = { hint: string; lines: { kind: ' ' | '-' | '+'; text: string }[] };

export type Operation =
  | { kind: 'update'; path: string; moveTo?: string; hunks: Hunk[] }
  | { kind: 'add'; path: string; content: string }
  | { kind: 'delete'; path: string }
  | { kind: 'move'; from: string; to: string };

export type Parsed = { operations: Operation[] } | { error: string };

const HEADER =
  /^\*\*\*\s*(Update File|Add File|Delete File|Move File|Move to|Begin Patch|End Patch|End of File)\s*:?\s*(.*)$/;

/** Reads the V4A patch format. `*** Begin Patch` and `*** End Patch` may be missing. */
export function parseV4a(patch: string): Parsed {
  const operations: Operation[] = [];
  let open: Operation | undefined;
  let hunk: Hunk | undefined;
  for (const [index, line] of patch.replaceAll('\r\n', '\n').split('\n').entries()) {
    const where = `line ${index + 1}`;
    const header = HEADER.exec(line);
    if (header !== null) {
      const [, name, rest = ''] = header;
      const path = rest.trim();
      if (name === 'End Patch') break;
      if (name === 'Begin Patch' || name === 'End of File') continue;
      if (path.split('/').includes('..')) return { error: `${where}: ".." is not allowed in ${name}` };
      if (path === '') return { error: `${where}: ${name} needs a path` };
      hunk = undefined;
      if (name === 'Move to') {
        if (open?.kind !== 'update') return { error: `${where}: Move to belongs under Update File` };
        open.moveTo = path;
        continue;
      }
      const begun = openOperation(name ?? '', path);
      if (begun === undefined) return { error: `${where}: Move File needs "from -> to"` };
      open = begun;
      operations.push(begun);
    } else if (open?.kind === 'add') {
      if (line.startsWith('+')) open.content += `${line.slice(1)}\n`;
      else if (line.trim() !== '') return { error: `${where}: lines of a new file begin with "+"` };
    } else if (open?.kind === 'update') {
      if (line.startsWith('@@')) {
        hunk = {
          hint: line
            .replace(/^@@\s?/, '')
            .replace(/\s?@@\s*$/, '')
            .trim(),
          lines: [],
        };
        open.hunks.push(hunk);
        continue;
      }
      if (hunk === undefined && line.trim() === '') continue;
      if (hunk === undefined) open.hunks.push((hunk = { hint: '', lines: [] }));
      const kind = line[0];
      if (kind === ' ' || kind === '-' || kind === '+') hunk.lines.push({ kind, text: line.slice(1) });
      else if (line === '') hunk.lines.push({ kind: ' ', text: '' });
      else if (!line.startsWith('\\')) return { error: `${where}: a line of a hunk begins with " ", "-" or "+"` };
    } else if (line.trim() !== '') {
      return {
        error: `${where}: expected "*** Update File:", "*** Add File:", "*** Delete File:" or "*** Move File:"`,
      };
    }
  }
  for (const operation of operations) dropTrailingBlanks(operation);
  const empty = operations.find(
    (item) => item.kind === 'update' && item.hunks.length === 0 && item.moveTo === undefined,
  );
  if (empty?.kind === 'update') return { error: `Update File: ${empty.path} has no hunks` };
  return operations.length === 0 ? { error: 'the patch holds no operation' } : { operations };
}

function openOperation(name: string, path: string): Operation | undefined {
  switch (name) {
    case 'Update File':
      return { kind: 'update', path, hunks: [] };
    case 'Add File':
      return { kind: 'add', path, content: '' };
    case 'Delete File':
      return { kind: 'delete', path };
    default: {
      const [from, to] = path.split('->').map((item) => item.trim());
      return from === undefined || to === undefined || from === '' || to === ''
        ? undefined
        : { kind: 'move', from, to };
    }
  }
}

/** A bare empty line before the next header separates; only a line that starts with a blank is context. */
function dropTrailingBlanks(operation: Operation): void {
  if (operation.kind !== 'update') return;
  for (const { lines } of operation.hunks) {
    while (lines.at(-1)?.kind === ' ' && lines.at(-1)?.text === '') lines.pop();
  }
  operation.hunks = operation.hunks.filter((hunk) => hunk.lines.some(({ kind }) => kind !== ' '));
}
