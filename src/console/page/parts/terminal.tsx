import { Fragment, useMemo, useState } from 'react';
import { tCount } from '../i18n/t.ts';
import { parseAnsi } from '../text/ansi.ts';
import { splitInvisible } from '../text/invisible.ts';
import { Button } from './button.tsx';

const LINES = 12;
const MAX_LINES = 1000;
/** Maximum characters shown of one line; a browser lays longer lines out slowly. */
const MAX_LINE = 4000;
/** Maximum characters shown of all lines. */
const MAX_TEXT = 200_000;

function readLines(text: string): string[] {
  return text.replace(/\n$/, '').split('\n');
}

/** The end of a program's output, in its colours. */
export function Terminal({ text }: { text: string }) {
  const lines = useMemo(() => readLines(text), [text]);
  const [shown, setShown] = useState(LINES);
  const hidden = Math.max(0, lines.length - shown);
  const spans = useMemo(
    () =>
      parseAnsi(
        lines
          .slice(-shown)
          .map((line) => (line.length > MAX_LINE ? `${line.slice(0, MAX_LINE)}…` : line))
          .join('\n')
          .slice(-MAX_TEXT),
      ),
    [lines, shown],
  );
  return (
    <div className="terminal">
      {hidden === 0 ? null : (
        <Button kind="quiet" onClick={() => setShown(shown < MAX_LINES ? MAX_LINES : shown + MAX_LINES)}>
          {tCount(hidden, 'Show {count} more line', 'Show {count} more lines')}
        </Button>
      )}
      <pre tabIndex={0}>
        {spans.map((span, index) => (
          <span key={index} className={span.classes}>
            {splitInvisible(span.text).map((segment, each) =>
              segment.isMark ? (
                <mark key={each} className="invisible">
                  {segment.text}
                </mark>
              ) : (
                <Fragment key={each}>{segment.text}</Fragment>
              ),
            )}
          </span>
        ))}
      </pre>
    </div>
  );
}
