// Tests: test/agents/tools/live-output.test.ts
import { cleanOutput } from '../tool-result.ts';

/** Characters of a line or a key that are waited for. What is longer is left out: the result has it. */
const MAX_HELD = 16_000;

/** Where the part ends that can be shown: after a whole line, and before a key whose end is missing. */
function findEnd(text: string): number {
  const lines = Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r')) + 1;
  const key = text.lastIndexOf('-----BEGIN ');
  return key === -1 || text.includes('-----END ', key) ? lines : Math.min(lines, key);
}

/** Passes pieces of output on as whole lines, cleaned like a result: without escape sequences and credentials. */
export function openLiveOutput(show: (text: string) => void): (piece: string) => void {
  let held = '';
  return (piece) => {
    const text = held + piece;
    const end = findEnd(text);
    held = text.length - end > MAX_HELD ? '' : text.slice(end);
    const lines = cleanOutput(text.slice(0, end));
    if (lines !== '') show(lines);
  };
}
