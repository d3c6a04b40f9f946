import { isRecord } from '../../platform/records.ts';
import { buildFields, buildTable, paint, showTime } from '../text.ts';

/** A column: its title, and the field that it shows, with dots for inner ones. */
export type Column = readonly [title: string, field: string];

const MAX_COLUMNS = 7;
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}/;

function readField(value: unknown, field: string): unknown {
  return field.split('.').reduce<unknown>((at, name) => (isRecord(at) ? at[name] : undefined), value);
}

function showValue(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return TIME.test(value) ? showTime(value) : value;
  return JSON.stringify(value);
}

/** Simple fields of the first row, where nobody has said which to show. */
function guessColumns([first]: readonly unknown[]): Column[] {
  const fields = isRecord(first) ? Object.entries(first) : [];
  const simple = fields.filter(([name, value]) => name !== 'object' && (typeof value !== 'object' || value === null));
  return simple.slice(0, MAX_COLUMNS).map(([name]) => [name.toUpperCase(), name]);
}

function showList(rows: readonly unknown[], columns: readonly Column[] | undefined): string {
  if (rows.length === 0) return paint('dim', 'None');
  const shown = columns ?? guessColumns(rows);
  return buildTable(
    shown.map(([title]) => title),
    rows.map((row) => shown.map(([, field]) => showValue(readField(row, field)))),
  );
}

/** An answer of the API for people: a list as a table, anything else field by field. */
export function showAnswer(answer: unknown, columns?: readonly Column[], rows?: string): string {
  if (!isRecord(answer)) return showValue(answer);
  const { data, [rows ?? 'data']: list } = answer;
  if (Array.isArray(list)) return showList(list, columns);
  const record = isRecord(data) ? data : answer;
  const fields = Object.entries(record).filter(([name]) => name !== 'object');
  return buildFields(Object.fromEntries(fields.map(([name, value]) => [name, showValue(value)])));
}
