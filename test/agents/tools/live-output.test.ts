import { expect, it } from 'vitest';
import { openLiveOutput } from '../../../src/agents/tools/terminal/live-output.ts';

function show(...pieces: string[]): string[] {
  const shown: string[] = [];
  const take = openLiveOutput((text) => shown.push(text));
  pieces.forEach((piece) => take(piece));
  return shown;
}

it('shows whole lines without escape sequences, of a progress bar the last state', () => {
  expect(show('on', 'e\ntw', 'o\n')).toEqual(['one\n', 'two\n']);
  expect(show('\u001b[31mred\u001b[0m\n')).toEqual(['red\n']);
  expect(show('10 %\r20 %\r', '30 %\r')).toEqual(['20 %', '30 %']);
});

it('hides credentials, also those that come in pieces', () => {
  expect(show('token ghp_', 'abcdefghijklmnopqrstuvwxyz0123456789\n').join('')).toBe('token ghp_…[redacted]\n');
  const key = ['-----BEGIN PRIVATE KEY-----\n', 'MIIEvQIBADANBg\n', '-----END PRIVATE KEY-----\nafter\n'];
  expect(show('before\n', ...key).join('')).not.toContain('MIIE');
  expect(show('before\n', ...key).at(-1)).toContain('after\n');
});

it('holds no line back for ever', () => {
  expect(show('x'.repeat(20_000), 'end\n')).toEqual(['end\n']);
});
