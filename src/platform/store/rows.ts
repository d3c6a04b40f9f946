/** The column of a field: `agentId` → `agent_id`. */
type ColumnOf<Field extends string> = Field extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${ColumnOf<Rest>}`
  : Field;

/** A row whose columns are named after the fields of `Fields` and have their types. */
export type RowOf<Fields> = { [Field in keyof Fields & string as ColumnOf<Field>]: Fields[Field] };

const fieldNames = new Map<string, string>();

function fieldOf(column: string): string {
  let field = fieldNames.get(column);
  if (field === undefined) {
    field = column.replaceAll(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase());
    fieldNames.set(column, field);
  }
  return field;
}

/**
 * A row as the record it stands for: `agent_id` becomes `agentId`, values stay. Columns that the record does not have
 * come along, so a statement names its columns, and none is secret that the record may not hold.
 */
export function readRow<Fields extends object>(row: RowOf<Fields>): Fields {
  return Object.fromEntries(Object.entries(row).map(([column, value]) => [fieldOf(column), value])) as Fields;
}
