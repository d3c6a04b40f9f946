import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { SECRET_FIELDS, openLog } from '../../src/platform/log.ts';

test('the value of a secret field is redacted', () => {
  const lines: string[] = [];
  const log = openLog({ level: 'info', pretty: false, destination: { write: (line) => void lines.push(line) } });
  log.info({ key: 'sk-1', inner: { token: 'sk-2' }, resource: 'ses-1' }, 'saved');
  expect(lines.join('')).not.toContain('sk-');
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ key: '[redacted]', resource: 'ses-1' });
});

test('no log line names a field that would be redacted', () => {
  const secret = new Set(SECRET_FIELDS);
  const offending = globSync(['src/**/*.ts', 'operator/**/*.ts']).flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/\blog\.(?:debug|info|warn|error)\(\s*\{([^}]*)\}/g)].flatMap(
      ([call, fields]) =>
        (fields ?? '')
          .split(',')
          .map((field) => field.split(':')[0]?.trim() ?? '')
          .filter((name) => secret.has(name))
          .map((name) => `${file}: ${name} in ${call}`),
    ),
  );
  expect(offending).toEqual([]);
});

test('a process ends although nobody reads its log any more', async () => {
  const script = `
    import { openLog } from ${JSON.stringify(new URL('../../src/platform/log.ts', import.meta.url).href)};
    const log = openLog({ level: 'info', pretty: false });
    log.info('first');
    process.stdin.once('data', () => {
      for (let line = 0; line < 3; line += 1) log.info('unread');
      process.exit(3);
    });
  `;
  const child = spawn(process.execPath, ['--input-type=module-typescript', '--eval', script]);
  const ended = once(child, 'exit');
  await once(child.stdout, 'data');
  child.stdout.destroy();
  await once(child.stdout, 'close');
  child.stdin.write('go');
  expect(await ended).toEqual([3, null]);
});
