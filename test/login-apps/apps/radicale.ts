import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PASSWORD, USER } from '../app.ts';
import type { App } from '../app.ts';

/** Calendars behind HTTP Basic, and a page whose script signs in the same way and stores nothing. */
export const RADICALE: App = {
  name: 'radicale',
  file: '/usr/bin/radicale',
  package: 'radicale',
  prepare({ port, scratch }) {
    const users = join(scratch, 'users');
    writeFileSync(users, `${USER}:${PASSWORD}\n`);
    const settings = [
      ['[server]', `hosts = 127.0.0.1:${port}`],
      // By default it delays rejections.
      ['[auth]', 'type = htpasswd', `htpasswd_filename = ${users}`, 'htpasswd_encryption = plain', 'delay = 0'],
      ['[logging]', 'level = info'],
      ['[storage]', `filesystem_folder = ${join(scratch, 'collections')}`],
    ];
    const file = join(scratch, 'config');
    writeFileSync(file, settings.flat().join('\n'));
    return { command: 'radicale', args: ['--config', file] };
  },
};
