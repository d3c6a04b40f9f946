export type Hunk = { hint: string; lines: { kind: ' ' | '-' | '+'; text: string }[] };

export type Operation =
  | { kind: 'update'; path: string; moveTo?: string; hunks: Hunk[] }
  | { kind: 'add'; path: string; content: string }
  | { kind: 'delete'; path: string }
  | { kind: 'move'; from: string; to: string };

export type Parsed = { operations: Operation[] } | { error: string };

const HEADER =
  /^\*\*\*\s*(Update File|Add File|Delete File|Move File|Move to|Begin Patch|End Patch|End of File)\s*:?\s*([^]*)$/;

const OPERATION_EXPECTED = 'expected "*** Update File:", "*** Add File:", "*** Delete File:" or "*** Move File:"';

/** What has been read so far. */
type Reader = {
  operations: Operation[];
  /** the operation that the next line belongs to */
  open: Operation | undefined;
  hunk: Hunk | undefined;
};

/** Reads the V4A patch format. `*** Begin Patch` and `*** End Patch` may be missing. */
export function parseV4a(patch: string): Parsed {
  const reader: Reader = { operations: [], open: undefined, hunk: undefined };
  for (const [index, line] of patch.replaceAll('\r\n', '\n').split('\n').entries()) {
    const [header, name = '', rest = ''] = HEADER.exec(line) ?? [];
    if (name === 'End Patch') break;
    const error = header === undefined ? readLine(reader, line) : readHeader(reader, name, rest.trim());
    if (error !== undefined) return { error: `line ${index + 1}: ${error}` };
  }
  const { operations } = reader;
  for (const operation of operations) dropTrailingBlanks(operation);
  const empty = operations.find(
    (item) => item.kind === 'update' && item.hunks.length === 0 && item.moveTo === undefined,
  );
  if (empty?.kind === 'update') return { error: `Update File: ${empty.path} has no hunks` };
  return operations.length === 0 ? { error: 'the patch holds no operation' } : { operations };
}

/** Begins an operation, or names the new path of the open one. Returns what is wrong with the header. */
function readHeader(reader: Reader, name: string, path: string): string | undefined {
  if (name === 'Begin Patch' || name === 'End of File') return undefined;
  if (path.split('/').includes('..')) return `".." is not allowed in ${name}`;
  if (path === '') return `${name} needs a path`;
  reader.hunk = undefined;
  if (name === 'Move to') {
    if (reader.open?.kind !== 'update') return 'Move to belongs under Update File';
    reader.open.moveTo = path;
    return undefined;
  }
  const operation = openOperation(name, path);
  if (operation === undefined) return 'Move File needs "from -> to"';
  reader.open = operation;
  reader.operations.push(operation);
  return undefined;
}

/** Adds a line to the open operation. Returns what is wrong with the line. */
function readLine(reader: Reader, line: string): string | undefined {
  const { open } = reader;
  if (open?.kind === 'update') return readHunkLine(reader, open.hunks, line);
  if (open?.kind === 'add' && line.startsWith('+')) open.content += `${line.slice(1)}\n`;
  else if (line.trim() !== '') return open?.kind === 'add' ? 'lines of a new file begin with "+"' : OPERATION_EXPECTED;
  return undefined;
}

function readHunkLine(reader: Reader, hunks: Hunk[], line: string): string | undefined {
  const beginHunk = (hint: string): Hunk => {
    const hunk: Hunk = { hint, lines: [] };
    hunks.push(hunk);
    reader.hunk = hunk;
    return hunk;
  };
  if (line.startsWith('@@')) {
    const hint = line.replace(/^@@\s?/, '').replace(/\s?@@\s*$/, '');
    beginHunk(hint.trim());
    return undefined;
  }
  if (reader.hunk === undefined && line.trim() === '') return undefined;
  const { lines } = reader.hunk ?? beginHunk('');
  const kind = line[0];
  if (kind === ' ' || kind === '-' || kind === '+') lines.push({ kind, text: line.slice(1) });
  else if (line === '') lines.push({ kind: ' ', text: '' });
  else if (!line.startsWith('\\')) return 'a line of a hunk begins with " ", "-" or "+"';
  return undefined;
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
