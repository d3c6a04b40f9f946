import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { PASSWORD, USER } from '../app.ts';
import type { App } from '../app.ts';
import type { Knock } from '../front.ts';
import { ofPyPI, programOf, runPython } from './registries.ts';

/** One person whose password has expired. */
export const PEOPLE = { expired: 'mary' };

const CHANGE_PEOPLE = `
import sqlite3, sys
people = sqlite3.connect(sys.argv[1])
people.execute("UPDATE user SET password_last_update = '2020-01-01 00:00:00' WHERE user_name = '${PEOPLE.expired}'")
people.commit()`;

function build(names: readonly string[], more: Readonly<Record<string, string>>): App {
  return ofPyPI('canaille', {
    prepare({ port, scratch }) {
      const database = join(scratch, 'people.db');
      const variables = { SECRET_KEY: 'of one test', CANAILLE_SQL__DATABASE_URI: `sqlite:///${database}`, ...more };
      const run = (...args: string[]) => {
        const call = runPython('canaille', [programOf('canaille', 'canaille'), ...args], variables);
        execFileSync(call.command, call.args, { stdio: 'pipe', cwd: scratch });
      };
      run('install');
      for (const name of names) {
        const about = ['--family-name', 'Lovelace', '--formatted-name', name, '--emails', `${name}@example.com`];
        run('create', 'user', '--user-name', name, '--password', PASSWORD, ...about);
      }
      execFileSync('python3', ['-c', CHANGE_PEOPLE, database]);
      const address = ['--host', '127.0.0.1', '--port', String(port)];
      const server = [programOf('canaille', 'flask'), '--app', 'canaille:create_app', 'run', ...address];
      return runPython('canaille', server, variables);
    },
    readyPath: '/login',
  });
}

/** An identity provider, which asks for the user name and for the password on two pages. */
export const CANAILLE = build([USER, PEOPLE.expired], { CANAILLE__PASSWORD_LIFETIME: 'P30D' });

/** A submit of the password. A script sends it too, to check the field: that is no attempt. */
export const isCanailleAttempt = ({ method, path, headers }: Knock) =>
  method === 'POST' && path.startsWith('/auth/password') && headers['hx-trigger-name'] === undefined;
