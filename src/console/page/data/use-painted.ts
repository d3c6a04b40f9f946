import { startTransition, useEffect, useState } from 'react';

/** False for the first rendering, then true: what is less urgent is mounted later, in short tasks. */
export function usePainted(): boolean {
  const [isPainted, setPainted] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => startTransition(() => setPainted(true)));
    return () => clearTimeout(timer);
  }, []);
  return isPainted;
}
