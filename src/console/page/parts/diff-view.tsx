import { useMemo } from 'react';
import { structuredPatch } from 'diff';
import { t } from '../i18n/t.ts';
import { MarkedText } from './marked-text.tsx';

/** Maximum number of edits for a comparison by lines. */
const MAX_EDITS = 4000;
const MAX_LINES = 1000;
/** Maximum characters shown of one line. */
const MAX_LINE = 4000;

export type DiffLine = { sign: '+' | '-' | ' ' | '@'; text: string };

export function readPatch(patch: string): DiffLine[] {
  return patch
    .split('\n')
    .filter((line) => !/^(?:---|\+\+\+|===|Index:|diff )/.test(line) && line !== '')
    .map((line) => {
      const [sign = ' '] = line;
      return sign === '+' || sign === '-' || sign === '@'
        ? { sign, text: line.slice(sign === '@' ? 0 : 1) }
        : { sign: ' ', text: line.slice(1) };
    });
}

export function compareTexts(before: string, after: string): DiffLine[] | undefined {
  const patch = structuredPatch('', '', before, after, '', '', { context: 3, maxEditLength: MAX_EDITS });
  return patch?.hunks.flatMap((hunk) => [
    { sign: '@' as const, text: `@@ -${hunk.oldStart},${hunk.oldLines} +${hunk.newStart},${hunk.newLines} @@` },
    ...readPatch(
      hunk.lines
        .filter((line) => !line.startsWith('\\'))
        .map((line) => line || ' ')
        .join('\n'),
    ),
  ]);
}

const CLASSES = { '+': 'diff-added', '-': 'diff-removed', '@': 'diff-hunk', ' ': '' };

export function DiffLines({ lines }: { lines: readonly DiffLine[] }) {
  return (
    <pre className="diff" tabIndex={0}>
      {lines.slice(0, MAX_LINES).map((line, index) => (
        <div key={index} className={CLASSES[line.sign]}>
          <span className="diff-sign">{line.sign === '@' ? '' : line.sign}</span>
          <MarkedText text={line.text.length > MAX_LINE ? `${line.text.slice(0, MAX_LINE)}…` : line.text} />
        </div>
      ))}
      {lines.length > MAX_LINES ? (
        <div className="meta">{t('{n} more lines', { n: lines.length - MAX_LINES })}</div>
      ) : null}
    </pre>
  );
}

export function DiffView({ before, after }: { before: string; after: string }) {
  const lines = useMemo(() => compareTexts(before, after), [before, after]);
  if (lines === undefined)
    return <p className="meta">{t('The texts differ too much to compare them line by line.')}</p>;
  if (lines.length === 0) return <p className="meta">{t('No difference.')}</p>;
  return <DiffLines lines={lines} />;
}
