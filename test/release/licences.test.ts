import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { z } from 'zod';

const Lock = z.object({
  packages: z.record(z.string(), z.object({ license: z.string().optional(), dev: z.boolean().optional() })),
});

const ALLOWED = new Set(
  '0BSD Apache-2.0 BlueOak-1.0.0 BSD BSD-2-Clause BSD-3-Clause CC0-1.0 ISC MIT MIT-0 PSF-2.0 Unlicense Zlib'.split(' '),
);
/** Packages that only tests and checks use, and that are not distributed. */
const ALLOWED_IN_DEVELOPMENT = new Set([...ALLOWED, 'MPL-2.0']);

/** Packages with other licences, and why they are acceptable. */
const EXCEPTIONS: readonly { name: RegExp; license: string; why: string }[] = [
  { name: /^@img\/sharp-/, license: 'LGPL-3.0-or-later', why: 'libvips, a shared library that can be replaced' },
  { name: /^@modelcontextprotocol\/server-everything$/, license: 'SEE LICENSE IN LICENSE', why: 'MIT; tests only' },
];

/** Whether an SPDX expression can be fulfilled by licences that `isAllowed` takes: `OR` is a choice. */
function isFulfilled(expression: string, isAllowed: (license: string) => boolean): boolean {
  const bare = expression.replace(/^\((.*)\)$/, '$1');
  if (bare.includes(' OR ')) return bare.split(' OR ').some((part) => isFulfilled(part, isAllowed));
  if (bare.includes(' AND ')) return bare.split(' AND ').every((part) => isFulfilled(part, isAllowed));
  return isAllowed(bare);
}

const listPackages = () => {
  const lock = Lock.parse(JSON.parse(readFileSync(new URL('../../package-lock.json', import.meta.url), 'utf8')));
  return Object.entries(lock.packages)
    .filter(([path]) => path !== '')
    .map(([path, entry]) => ({ name: path.split('node_modules/').at(-1) ?? path, ...entry }));
};

test('every dependency has a licence that lets Capstan be given away', () => {
  const packages = listPackages();
  expect(packages.length).toBeGreaterThan(100);
  const refused = packages.filter(({ name, license = 'none', dev = false }) => {
    const allowed = dev ? ALLOWED_IN_DEVELOPMENT : ALLOWED;
    const excepted = EXCEPTIONS.filter((exception) => exception.name.test(name)).map((exception) => exception.license);
    return !isFulfilled(license, (one) => allowed.has(one) || excepted.includes(one));
  });
  expect(refused.map(({ name, license }) => `${name}: ${license}`)).toEqual([]);
});

test('no exception is left over', () => {
  const packages = listPackages();
  const unused = EXCEPTIONS.filter(
    ({ name, license }) => !packages.some((each) => name.test(each.name) && each.license?.includes(license) === true),
  );
  expect(unused).toEqual([]);
});

test.each([
  ['MIT', true],
  ['GPL-3.0-or-later', false],
  ['AGPL-3.0-only', false],
  ['(MIT OR GPL-3.0-or-later)', true],
  ['MIT AND GPL-3.0-or-later', false],
  ['none', false],
])('the licence %s is allowed: %s', (license, expected) => {
  expect(isFulfilled(license, (one) => ALLOWED.has(one))).toBe(expected);
});
