import type { CSSProperties, ReactNode } from 'react';
import { t } from '../i18n/t.ts';

/** The name of a column. One without a name holds buttons; numbers are aligned at their ends. */
export type Column = string | { name: string; isNumber: true };

function nameOf(column: Column): string {
  return typeof column === 'string' ? column : column.name;
}

/** On a narrow screen a row is a card: the style sheet writes these texts before its cells. */
function buildLabels(columns: readonly Column[]): CSSProperties {
  const labels = columns.map((column, index) => {
    const name = nameOf(column);
    return [`--label-${index + 1}`, name === '' ? '""' : JSON.stringify(t(name))];
  });
  return Object.fromEntries(labels) as CSSProperties;
}

/** A list of things. `children` are its rows, with a cell for each column. */
export function Table({ columns, children }: { columns: readonly Column[]; children: ReactNode }) {
  return (
    <div className="table-scroll" tabIndex={0}>
      <table className="list list-cards" style={buildLabels(columns)}>
        <thead>
          <tr>
            {columns.map((column) => {
              const name = nameOf(column);
              return (
                <th key={name} scope="col" className={typeof column === 'string' ? undefined : 'cell-number'}>
                  {name === '' ? <span className="visually-hidden">{t('Actions')}</span> : t(name)}
                </th>
              );
            })}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}
