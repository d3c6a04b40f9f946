import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from '@babel/parser';
import type { Node } from '@babel/types';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const PLACES = ['src', 'operator', 'sandbox-image', 'clients/typescript'];

/** A regular expression as the sources write it; `line` counts from 1. */
export type SourcePattern = { file: string; line: number; source: string; flags: string };

/** A call of `RegExp` with an expression in place of a literal. */
export type BuiltPattern = { file: string; line: number; code: string };

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';

function* walk(node: Node): Generator<Node> {
  yield node;
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) yield* walk(child);
  }
}

/** Every regular expression of the product: the literals, and the calls of `RegExp`. */
export function readPatterns(): { literals: SourcePattern[]; built: BuiltPattern[] } {
  const literals: SourcePattern[] = [];
  const built: BuiltPattern[] = [];
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', ...PLACES], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  for (const file of listed.split('\n')) {
    if (!/\.(?:ts|js|mjs)$/.test(file) || !existsSync(join(ROOT, file))) continue;
    const text = readFileSync(join(ROOT, file), 'utf8');
    const tree = parse(text, { sourceType: 'module', plugins: ['typescript'], tokens: false, attachComment: false });
    for (const node of walk(tree.program)) {
      const line = node.loc?.start.line ?? 0;
      if (node.type === 'RegExpLiteral') literals.push({ file, line, source: node.pattern, flags: node.flags });
      if (node.type !== 'NewExpression' && node.type !== 'CallExpression') continue;
      if (node.callee.type !== 'Identifier' || node.callee.name !== 'RegExp') continue;
      built.push({ file, line, code: text.slice(node.start ?? 0, node.end ?? 0) });
    }
  }
  return { literals, built };
}
