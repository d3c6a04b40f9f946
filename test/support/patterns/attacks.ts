import { parseRegExpLiteral } from '@eslint-community/regexpp';
import type { AST } from '@eslint-community/regexpp';

/** Tried as members of character classes: at least one of every sort that patterns tell apart. */
const ALPHABET = 'a0Axz_ \n.-/:*"\'=+@#,;<>!?()[]{}|\\%$&~^`\tX9é中•\0'.split('');
/** Members of one sort in a class that are repeated each alone. */
const MEMBERS = 3;
/** Alternatives of one group that are written out. */
const ALTERNATIVES = 3;
/** What ends a long run, so that the pattern fails or goes on. */
const ENDS = ['', '\0\n', ' !'];
const PLAIN_UNITS = ['a', '0', 'A', ' ', '\n', 'a.', 'a ', '\n ', '-', '/', '<', '"', '\\', '\u001b]', '\u001b['];

/** A text as a repetition: `before`, `unit` as often as the length allows, `after`. */
export type Attack = { before: string; unit: string; after: string };

export function writeAttack({ before, unit, after }: Attack, length: number): string {
  return before + unit.repeat(Math.max(1, Math.floor((length - before.length - after.length) / unit.length))) + after;
}

/** A way to write what a part of a pattern matches: `choice` picks class members and alternatives. */
type Writer = { flags: string; choice: number; optional: boolean };

const members = new Map<string, string[]>();

function listMembers(raw: string, flags: string): string[] {
  const mode = flags.replaceAll(/[^iuvs]/g, '');
  const key = `${raw}/${mode}`;
  const known = members.get(key);
  if (known !== undefined) return known;
  const test = new RegExp(`^${raw}$`, mode);
  const found = ALPHABET.filter((char) => test.test(char));
  members.set(key, found);
  return found;
}

function writeElement(node: AST.Element, writer: Writer): string {
  switch (node.type) {
    case 'Character':
      return String.fromCodePoint(node.value);
    case 'CharacterClass':
    case 'CharacterSet':
    case 'ExpressionCharacterClass': {
      const chars = listMembers(node.raw, writer.flags);
      return chars[writer.choice % Math.max(1, chars.length)] ?? '';
    }
    case 'Group':
    case 'CapturingGroup':
      return writeAlternative(node.alternatives[writer.choice % node.alternatives.length], writer);
    case 'Quantifier': {
      const count = node.min === 0 && writer.optional ? 1 : node.min;
      return writeElement(node.element, writer).repeat(Math.min(count, 100));
    }
    case 'Backreference': {
      const group = Array.isArray(node.resolved) ? node.resolved[0] : node.resolved;
      return group === undefined ? '' : writeElement(group, writer);
    }
    default:
      return '';
  }
}

function writeAlternative(node: AST.Alternative | undefined, writer: Writer): string {
  return (node?.elements ?? []).map((element) => writeElement(element, writer)).join('');
}

/** What has to stand before a part for the pattern to reach it. */
function writeBefore(node: AST.Node, writer: Writer): string {
  const { parent } = node;
  if (parent === null || parent.type === 'Pattern') return '';
  if (parent.type !== 'Alternative') return writeBefore(parent, writer);
  const own = parent.elements.slice(
    0,
    parent.elements.findIndex((element) => element === node),
  );
  return writeBefore(parent, writer) + own.map((element) => writeElement(element, writer)).join('');
}

function* walk(node: AST.Node): Generator<AST.Node> {
  yield node;
  if ('alternatives' in node) for (const child of node.alternatives) yield* walk(child);
  if (node.type === 'Alternative') for (const child of node.elements) yield* walk(child);
  if (node.type === 'Quantifier') yield* walk(node.element);
}

/** Texts that a repetition takes in, as units of a long run. */
function listUnits(element: AST.Element, flags: string): string[] {
  const units = new Set<string>();
  if (element.type === 'CharacterClass' || element.type === 'CharacterSet') {
    const chars = listMembers(element.raw, flags);
    // Word characters, blanks and the rest in turns: `\b` and neighbours tell them apart.
    const sorts = [/\w/, /\s/, /[^\w\s]/].map((sort) => chars.filter((char) => sort.test(char)).slice(0, MEMBERS));
    for (const unit of sorts.flat()) units.add(unit);
    const firsts = sorts.flatMap((sort) => sort.slice(0, 1));
    for (const first of firsts) for (const second of firsts) units.add(first === second ? first : first + second);
    return [...units];
  }
  for (let choice = 0; choice < 2 * MEMBERS; choice += 1) {
    for (const optional of [false, true]) units.add(writeElement(element, { flags, choice, optional }));
  }
  return [...units].filter((unit) => unit !== '');
}

/**
 * Texts on which a backtracking engine would take long with this pattern: every repetition run on without end, after
 * what leads to it, and that whole beginning again and again.
 */
export function listAttacks({ source, flags }: { source: string; flags: string }): Attack[] {
  const attacks = new Map<string, Attack>();
  const add = (attack: Attack) => {
    if (attack.unit !== '') attacks.set(JSON.stringify(attack), attack);
  };
  for (const unit of PLAIN_UNITS) for (const after of ENDS.slice(0, 2)) add({ before: '', unit, after });
  const { pattern } = parseRegExpLiteral(`/${source}/${flags}`);
  for (const node of walk(pattern)) {
    if (node.type === 'Alternative') {
      for (let choice = 0; choice < ALTERNATIVES; choice += 1) {
        const whole = writeAlternative(node, { flags, choice, optional: choice % 2 === 1 });
        for (const unit of [whole, whole.slice(0, -1), `${whole.slice(0, -1)}\n`]) add({ before: '', unit, after: '' });
      }
    }
    if (node.type !== 'Quantifier' || node.max < 30) continue;
    for (const optional of [false, true]) {
      const befores = Array.from({ length: ALTERNATIVES }, (_, choice) =>
        writeBefore(node, { flags, choice, optional }),
      );
      for (const before of new Set(befores)) {
        for (const unit of listUnits(node.element, flags)) {
          for (const after of ENDS) add({ before, unit, after });
          for (const end of ENDS) add({ before: '', unit: before + unit + end, after: '' });
          add({ before: '', unit: `${before}${unit.repeat(3)}`, after: '\0' });
        }
      }
    }
  }
  return [...attacks.values()];
}
