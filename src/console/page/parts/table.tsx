import type { ReactNode } from 'react';
import { t } from '../i18n/t.ts';

/** A table that scrolls sideways. `children` are its rows; a column without a name holds buttons. */
export function Table({ columns, children }: { columns: readonly string[]; children: ReactNode }) {
  return (
    <div className="table-scroll" tabIndex={0}>
      <table className="list">
        <thead>
          <tr>
            {columns.map((name) => (
              <th key={name} scope="col">
                {name === '' ? <span className="visually-hidden">{t('Actions')}</span> : t(name)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}
