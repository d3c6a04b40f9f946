import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PASSWORD } from '../app.ts';
import type { App } from '../app.ts';

const CACHE = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
const INSTALLED = join(CACHE, 'capstan/login-apps/strapi');
const PROGRAM = join(INSTALLED, 'node_modules/@strapi/strapi/bin/strapi.js');
const QUIET = { NODE_ENV: 'production', STRAPI_TELEMETRY_DISABLED: 'true', STRAPI_DISABLE_UPDATE_NOTIFICATION: 'true' };

export const EDITOR = 'ada@example.com';

function build(name: string, hasEditor: boolean): App {
  return {
    name,
    file: join(INSTALLED, 'installed'),
    package: 'Strapi',
    async prepare({ port, scratch }) {
      const folder = join(scratch, 'project');
      for (const part of ['config', 'public/uploads']) mkdirSync(join(folder, part), { recursive: true });
      for (const part of ['node_modules', 'build']) symlinkSync(join(INSTALLED, part), join(folder, part));
      cpSync(join(INSTALLED, 'package.json'), join(folder, 'package.json'));
      const configure = (part: string, values: object) =>
        writeFileSync(join(folder, `config/${part}.json`), JSON.stringify(values));
      const connection = { filename: join(scratch, 'site.db') };
      configure('database', { connection: { client: 'sqlite', connection, useNullAsDefault: true } });
      configure('server', { host: '127.0.0.1', port, app: { keys: ['of one test'] } });
      configure('admin', {
        apiToken: { salt: 'of one test' },
        auth: { secret: 'of one test' },
        transfer: { token: { salt: 'of one test' } },
        secrets: { encryptionKey: 'e'.repeat(32) },
      });
      if (hasEditor) {
        const person = [`--email=${EDITOR}`, `--password=${PASSWORD}`, '--firstname=Ada', '--lastname=Example'];
        const options = { cwd: folder, env: { ...process.env, ...QUIET } };
        await promisify(execFile)(process.execPath, [PROGRAM, 'admin:create-user', ...person], options);
      }
      const variables = Object.entries(QUIET).map(([key, value]) => `${key}=${value}`);
      return { command: 'env', args: ['-C', folder, ...variables, process.execPath, PROGRAM, 'start'] };
    },
    readyPath: '/admin/init',
  };
}

/** Pages drawn by React, and a session of which a script holds one half and a cookie the other. */
export const STRAPI = build('strapi', true);
/** Its initial state: the first visitor creates the administrator. */
export const STRAPI_NEW = build('strapi-new', false);
