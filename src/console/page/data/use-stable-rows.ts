import { useRef, useState } from 'react';

type Row = { id: string };

/**
 * Keeps rows in place under the pointer and the focus: while one of the two is in the list, its order stays, and new
 * rows are only counted.
 */
export function useStableRows<T extends Row>(rows: readonly T[]) {
  const [isHeld, setHeld] = useState(false);
  const order = useRef<readonly string[]>([]);
  const byId = new Map(rows.map((row) => [row.id, row]));
  const isFirst = order.current.length === 0;
  if (!isHeld || isFirst) order.current = rows.map((row) => row.id);
  const known = new Set(order.current);
  const kept = order.current.flatMap((id) => byId.get(id) ?? []);
  const last = kept.at(-1);
  const lastIndex = last === undefined ? -1 : rows.findIndex((row) => row.id === last.id);
  // The reader has requested the rows after the last one.
  const appended = rows.slice(lastIndex + 1).filter((row) => !known.has(row.id));
  const shown = isHeld ? [...kept, ...appended] : kept;
  return {
    shown,
    newCount: rows.length - shown.length,
    showNew: () => setHeld(false),
    hold: {
      onPointerEnter: () => setHeld(true),
      onPointerLeave: () => setHeld(false),
      onFocus: () => setHeld(true),
      onBlur: () => setHeld(false),
    },
  };
}
