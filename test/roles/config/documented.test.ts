import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ConfigFile } from '../../../src/roles/config/config-file.ts';
import { Settings } from '../../../src/roles/config/environment.ts';

const DOCS = new URL('../../../docs/', import.meta.url);
const readPage = (name: string) => readFileSync(fileURLToPath(new URL(name, DOCS)), 'utf8');

/** First and second cell of each row: names and default. */
function readRows(page: string): { names: string[]; preset: string }[] {
  return page
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.split('|'))
    .map(([, names = '', preset = '']) => ({
      names: [...names.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name),
      preset,
    }));
}

type Schema = { properties?: Record<string, Schema>; [key: string]: unknown };

/** The names of all fields of a JSON schema. */
function listFields(schema: unknown): string[] {
  if (Array.isArray(schema)) return schema.flatMap(listFields);
  if (typeof schema !== 'object' || schema === null) return [];
  const { properties = {}, ...rest } = schema as Schema;
  const nested = [...Object.values(properties), ...Object.values(rest)];
  return [...Object.keys(properties), ...nested.flatMap(listFields)];
}

describe('docs/configuration.md', () => {
  const rows = readRows(readPage('configuration.md'));
  // A value that is parsed further has no text to compare.
  const presets = Object.entries(Settings.parse({})).flatMap(([name, preset]): [string, string][] =>
    typeof preset === 'object' ? [] : [[name, preset === '' ? 'empty' : `\`${preset}\``]],
  );

  it.each(Object.keys(Settings.shape))('has a row for %s', (name) => {
    expect(rows.some(({ names }) => names.includes(name))).toBe(true);
  });

  it.each(presets)('has %s with the default %s', (name, preset) => {
    const row = rows.find(({ names }) => names.includes(name));
    expect(row?.preset).toContain(preset);
  });

  it('has no row of a setting that does not exist', () => {
    const names = rows.flatMap((row) => row.names).filter((name) => name.startsWith('CAPSTAN_'));
    expect(names.filter((name) => !(name in Settings.shape))).toEqual([]);
  });

  it('names every field of capstan.yaml, with the page of the video engines', () => {
    const text = readPage('configuration.md') + readPage('video-engines.md');
    const fields = new Set(listFields(z.toJSONSchema(ConfigFile, { io: 'input', unrepresentable: 'any' })));
    expect([...fields].filter((field) => !new RegExp(`[\`.]${field}[\`.]`).test(text))).toEqual([]);
  });
});
