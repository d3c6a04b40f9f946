import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { findBrokenLinks, findFaults, findLongLines, findMissingPaths, findUnsetVariables } from './support/docs.ts';

const ROOT = fileURLToPath(new URL('../', import.meta.url));

function listPages(folder: string): string[] {
  return readdirSync(join(ROOT, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${folder}/${name}`);
}

const PAGES = [
  'README.md',
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'clients/typescript/README.md',
  ...listPages('docs'),
];
const NESTED_PAGES = [...listPages('docs/adr'), ...listPages('docs/clients')];

describe('every page', () => {
  it.each([...PAGES, ...NESTED_PAGES])('has short lines, sets its variables and names what exists: %s', (page) => {
    expect(findFaults(ROOT, page, readFileSync(join(ROOT, page), 'utf8'))).toEqual([]);
  });
});

describe('the checks', () => {
  it('find long lines of prose, not of code and tables', () => {
    const long = 'x'.repeat(111);
    expect(findLongLines(`${long}\n| ${long} |\n\`\`\`\n${long}\n\`\`\`\n`)).toEqual([
      'line 1 has 111 characters, more than 110',
    ]);
  });

  it('find variables that no shell block sets', () => {
    const page = (code: string) => `\`\`\`sh\n${code}\n\`\`\`\n`;
    expect(findUnsetVariables(page('curl "$URL/a" -d \'$LITERAL\' "$PATH" "$1"'))).toEqual([
      '$URL is used in a shell block and never set',
    ]);
    expect(findUnsetVariables(page('export URL=x\nID=$(curl "$URL")\necho "${ID}"'))).toEqual([]);
    expect(findUnsetVariables('```ts\n`${value}`\n```\n')).toEqual([]);
  });

  it('find links and paths that lead nowhere', () => {
    expect(findBrokenLinks(ROOT, 'docs/cli.md', '[a](nowhere.md) [b](cli.md#chat) [c](https://example.com)')).toEqual([
      'the link nowhere.md leads nowhere',
    ]);
    expect(findMissingPaths(ROOT, '`src/main.ts`, `src/nowhere.ts`.')).toEqual([
      'the path src/nowhere.ts does not exist',
    ]);
  });
});
