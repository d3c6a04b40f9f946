import { similarity } from './similarity.ts';

const LIKENESS = 0.3;
const SHOWN = 3;
const AROUND = 2;
/** Lines of a bigger file are not compared: the answer must come at once. */
const COMPARED_LINES = 5000;

/** Up to three lines similar to the first line of the searched text, with two lines of context each. */
export function describeClosest(text: string, old: string): string {
  const first = (old.split('\n').find((line) => line.trim() !== '') ?? '').trim();
  const lines = text.split('\n');
  const scored = lines
    .slice(0, COMPARED_LINES)
    .map((line, index) => ({ index, score: line.trim() === '' ? 0 : similarity(line.trim(), first, LIKENESS) }))
    .filter(({ score }) => score > LIKENESS)
    .sort((a, b) => b.score - a.score)
    .slice(0, SHOWN);
  if (scored.length === 0) return '';
  const sections = scored.map(({ index }) => {
    const from = Math.max(0, index - AROUND);
    const shown = lines.slice(from, index + old.split('\n').length + AROUND);
    return shown.map((line, offset) => `${from + offset + 1}|${line.slice(0, 200)}`).join('\n');
  });
  return `\n\nThe closest places are:\n${sections.join('\n---\n')}`;
}
