import { useEffect, useState } from 'react';

/** False for the first rendering, then true: what is less urgent is mounted in a task of its own. */
export function usePainted(): boolean {
  const [isPainted, setPainted] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setPainted(true));
    return () => clearTimeout(timer);
  }, []);
  return isPainted;
}
