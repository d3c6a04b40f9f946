import { useState } from 'react';

type Typed = { target: { value: string } };

/** The texts of a form while it is edited. `bind` is the value and the change of one field. */
export function useDraft<T extends Record<string, string>>(initial: T) {
  const [draft, setDraft] = useState(initial);
  const change = (next: Partial<T>) => setDraft((old) => ({ ...old, ...next }));
  const bind = (name: keyof T) => ({
    value: draft[name],
    onChange: ({ target: { value } }: Typed) => setDraft((old) => ({ ...old, [name]: value })),
  });
  return { draft, change, bind };
}
