import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Characters of a line of prose. */
export const MAX_LINE = 110;

/** Variables that every shell has. */
const STANDARD = new Set(['HOME', 'PWD', 'OLDPWD', 'PATH', 'USER', 'SHELL', 'TMPDIR', 'RANDOM']);
const FENCE = /^ *```(\S*)\n([\s\S]*?)^ *```$/gm;
/** A path of the repository; one that goes on with `…`, `*`, `<` or `{` is a pattern and is not checked. */
const SOURCE_PATH = /(?<![\w./-])(?:src|test|docs|scripts)\/[\w.@/-]+(?![\w.@/*…<{-])/g;

export function findShellBlocks(text: string): string[] {
  return [...text.matchAll(FENCE)].flatMap(([, language, code = '']) => (language === 'sh' ? [code] : []));
}

function removeCode(text: string): string {
  return text.replaceAll(FENCE, (block) => block.replaceAll(/[^\n]/g, ''));
}

export function findLongLines(text: string): string[] {
  return removeCode(text)
    .split('\n')
    .flatMap((line, index) => {
      const length = Array.from(line).length;
      const isTable = line.startsWith('|');
      return length > MAX_LINE && !isTable ? [`line ${index + 1} has ${length} characters, more than ${MAX_LINE}`] : [];
    });
}

/** Literal text of the shell: single quotes, and here-documents with a quoted delimiter. */
function removeLiterals(code: string): string {
  return code.replaceAll(/<<'(\w+)'\n[\s\S]*?\n\1$/gm, '').replaceAll(/'[^']*'/g, '');
}

/** `sh` blocks use a variable only after the page has set it. */
export function findUnsetVariables(text: string): string[] {
  const code = findShellBlocks(text).join('\n');
  const set = new Set([...code.matchAll(/(?:^|[\s;(])([A-Za-z_]\w*)=/g)].map(([, name]) => name));
  const used = [...removeLiterals(code).matchAll(/\$\{?([A-Za-z_]\w*)/g)].map(([, name = '']) => name);
  const unset = used.filter((name) => !set.has(name) && !STANDARD.has(name));
  return [...new Set(unset)].map((name) => `$${name} is used in a shell block and never set`);
}

export function findBrokenLinks(root: string, page: string, text: string): string[] {
  const prose = removeCode(text);
  const links = [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
  const relative = links.filter((target) => !/^[a-z]+:|^#/.test(target));
  const broken = relative.filter((target) => !existsSync(join(root, dirname(page), target.split('#')[0] ?? '')));
  return broken.map((target) => `the link ${target} leads nowhere`);
}

export function findMissingPaths(root: string, text: string): string[] {
  const paths = [...removeCode(text).matchAll(SOURCE_PATH)].map(([path]) => path.replace(/[.,/]+$/, ''));
  const missing = [...new Set(paths)].filter((path) => !existsSync(join(root, path)));
  return missing.map((path) => `the path ${path} does not exist`);
}

export function findFaults(root: string, page: string, text: string): string[] {
  return [
    ...findLongLines(text),
    ...findUnsetVariables(text),
    ...findBrokenLinks(root, page, text),
    ...findMissingPaths(root, text),
  ];
}
