// Tests: test/platform/db/port.test.ts
import { types } from './types.ts';

/** A column of a result: its name and the OID of its type. */
export type Field = { name: string; dataTypeID: number };

export type StatementResult = { rows: Record<string, unknown>[]; rowCount: number; command: string };

/** An error of PostgreSQL, with the names that `pg` uses. */
export type StatementFailure = {
  message: string;
  code: string | undefined;
  detail: string | undefined;
  constraint: string | undefined;
  table: string | undefined;
};

/** First bytes of the messages that are read here. */
const ROW_DESCRIPTION = 0x54;
const DATA_ROW = 0x44;
const COMMAND_COMPLETE = 0x43;
const ERROR_RESPONSE = 0x45;
/** The type and the length of a message. */
const HEADER_BYTES = 5;
/** What a column description has behind its name: table, number, type, size, modifier and format. */
const COLUMN_BYTES = 18;
const TYPE_OFFSET = 6;

/** The same bytes with the methods of `Buffer`. */
function viewOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Calls `onMessage` with the bounds of the body of each message. */
function readMessages(reply: Buffer, onMessage: (type: number, start: number, end: number) => void): void {
  for (let at = 0; at < reply.length;) {
    const end = at + 1 + reply.readInt32BE(at + 1);
    onMessage(reply[at] ?? 0, at + HEADER_BYTES, end);
    at = end;
  }
}

function readDescription(reply: Buffer, start: number): Field[] {
  let at = start + 2;
  return Array.from({ length: reply.readInt16BE(start) }, () => {
    const end = reply.indexOf(0, at);
    const name = reply.toString('utf8', at, end);
    const dataTypeID = reply.readInt32BE(end + 1 + TYPE_OFFSET);
    at = end + 1 + COLUMN_BYTES;
    return { name, dataTypeID };
  });
}

/** The columns that a description of a statement names; none where it returns no rows. */
export function readFields(bytes: Uint8Array): Field[] {
  const reply = viewOf(bytes);
  let fields: Field[] = [];
  readMessages(reply, (type, start) => {
    if (type === ROW_DESCRIPTION) fields = readDescription(reply, start);
  });
  return fields;
}

function readFailure(reply: Buffer, start: number): StatementFailure {
  const parts = new Map<string, string>();
  for (let at = start; reply[at] !== 0;) {
    const end = reply.indexOf(0, at + 1);
    parts.set(String.fromCodePoint(reply[at] ?? 0), reply.toString('utf8', at + 1, end));
    at = end + 1;
  }
  return {
    message: parts.get('M') ?? 'The statement failed.',
    code: parts.get('C'),
    detail: parts.get('D'),
    constraint: parts.get('n'),
    table: parts.get('t'),
  };
}

/** The first error in a reply. */
export function findFailure(bytes: Uint8Array): StatementFailure | undefined {
  const reply = viewOf(bytes);
  let failure: StatementFailure | undefined;
  readMessages(reply, (type, start) => {
    if (type === ERROR_RESPONSE) failure ??= readFailure(reply, start);
  });
  return failure;
}

type Column = { name: string; parse: (text: string) => unknown };

function readRow(reply: Buffer, start: number, columns: readonly Column[]): Record<string, unknown> {
  const row: Record<string, unknown> = {};
  let at = start + 2;
  for (const { name, parse } of columns) {
    const length = reply.readInt32BE(at);
    at += 4;
    if (length < 0) {
      row[name] = null;
      continue;
    }
    row[name] = parse(reply.toString('utf8', at, at + length));
    at += length;
  }
  return row;
}

/** The rows of a reply as text, parsed by the types of their columns. */
export function readResult(bytes: Uint8Array, fields: readonly Field[]): StatementResult {
  const reply = viewOf(bytes);
  const columns = fields.map(({ name, dataTypeID }) => {
    const parse = types.getTypeParser(dataTypeID) as unknown as Column['parse'];
    return { name, parse };
  });
  const rows: Record<string, unknown>[] = [];
  let tag = '';
  readMessages(reply, (type, start, end) => {
    if (type === DATA_ROW) rows.push(readRow(reply, start, columns));
    else if (type === COMMAND_COMPLETE) tag = reply.toString('utf8', start, end - 1);
  });
  return { rows, rowCount: Number(/(?<!\d)\d+$/.exec(tag)?.[0] ?? 0), command: tag.split(' ')[0] ?? '' };
}
