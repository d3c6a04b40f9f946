import { useEffect } from 'react';

/** The title of the tab, as long as the part is mounted. Undefined: another part sets it. */
export function useTitle(name: string | undefined): void {
  useEffect(() => {
    if (name !== undefined) document.title = `${name} · Capstan`;
  }, [name]);
}
