import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PASSWORD, USER } from '../app.ts';
import { ofPyPI, programOf, runPython } from './registries.ts';

const CREATE_TABLE =
  'import sqlite3,sys; sqlite3.connect(sys.argv[1]).execute("CREATE TABLE minutes_of_the_board (text)")';

function createDatabase(scratch: string): string {
  const file = join(scratch, 'board.db');
  execFileSync('python3', ['-c', CREATE_TABLE, file]);
  return file;
}

/** A browser for a database, behind a password without a user name. */
export const SQLITE_WEB = ofPyPI('sqlite-web', {
  prepare({ port, scratch }) {
    const address = ['--host', '127.0.0.1', '--port', String(port), '--no-browser'];
    const args = [programOf('sqlite-web', 'sqlite_web'), ...address, '--password', createDatabase(scratch)];
    return runPython('sqlite-web', args, { SQLITE_WEB_PASSWORD: PASSWORD });
  },
});

/** A signed cookie, and a front page that refuses strangers with 403. */
export const DATASETTE = ofPyPI('datasette', {
  prepare({ port, scratch }) {
    const program = programOf('datasette', 'datasette');
    const { command, args } = runPython('datasette', [program, 'hash-password', '--no-confirm']);
    const hash = execFileSync(command, args, { input: PASSWORD, encoding: 'utf8' }).trim();
    const settings = join(scratch, 'metadata.json');
    const plugins = { 'datasette-auth-passwords': { [`${USER}_password_hash`]: hash } };
    writeFileSync(settings, JSON.stringify({ allow: { id: USER }, plugins }));
    const address = ['--host', '127.0.0.1', '--port', String(port), '--metadata', settings];
    return runPython('datasette', [program, 'serve', createDatabase(scratch), ...address]);
  },
  readyPath: '/-/login',
});

/** Files over WebDAV, behind HTTP Basic, with a page that lists them. */
export const WSGIDAV = ofPyPI('wsgidav', {
  prepare({ port, scratch }) {
    const files = join(scratch, 'files');
    mkdirSync(files);
    writeFileSync(join(files, 'minutes.txt'), 'Not for everybody.');
    const settings = join(scratch, 'wsgidav.json');
    const own = {
      host: '127.0.0.1',
      port,
      provider_mapping: { '/': files },
      http_authenticator: { accept_basic: true, accept_digest: false, default_to_digest: false },
      simple_dc: { user_mapping: { '*': { [USER]: { password: PASSWORD } } } },
    };
    writeFileSync(settings, JSON.stringify(own));
    return runPython('wsgidav', [programOf('wsgidav', 'wsgidav'), '--config', settings]);
  },
});

/** A list of processes, behind HTTP Basic. */
export const SUPERVISOR = ofPyPI('supervisor', {
  prepare({ port, scratch }) {
    const settings = join(scratch, 'supervisor.conf');
    const lines = [
      '[supervisord]',
      `logfile=${join(scratch, 'supervisor.log')}`,
      `pidfile=${join(scratch, 'supervisor.pid')}`,
      'nodaemon=true',
      '[inet_http_server]',
      `port=127.0.0.1:${port}`,
      `username=${USER}`,
      `password=${PASSWORD}`,
    ];
    writeFileSync(settings, lines.join('\n'));
    return runPython('supervisor', [programOf('supervisor', 'supervisord'), '--configuration', settings]);
  },
});

const APPBUILDER_PROGRAM = `
import os
from flask import Flask
from flask_appbuilder import AppBuilder
from flask_appbuilder.utils.legacy import get_sqla_class

app = Flask(__name__)
app.config.update(SECRET_KEY='of one test, and long enough', SQLALCHEMY_DATABASE_URI='sqlite:///' + os.environ['DATABASE'],
                  FAB_PASSWORD_COMPLEXITY_ENABLED=False, APP_NAME='Minutes of the board')
db = get_sqla_class()()
db.init_app(app)
with app.app_context():
    builder = AppBuilder(app, db.session)
    manager = app.appbuilder.sm
    manager.add_user(os.environ['USERNAME'], 'Ada', 'Lovelace', 'ada@example.com', manager.find_role('Admin'), os.environ['PASSWORD'])
app.run('127.0.0.1', int(os.environ['PORT']))
`;

/** Flask-AppBuilder: a public front page that links its login form. */
export const APPBUILDER = ofPyPI('appbuilder', {
  prepare({ port, scratch }) {
    const program = join(scratch, 'website.py');
    writeFileSync(program, APPBUILDER_PROGRAM);
    const variables = { DATABASE: join(scratch, 'site.db'), PORT: String(port), USERNAME: USER, PASSWORD };
    return runPython('appbuilder', [program], variables);
  },
  readyPath: '/login/',
});

/** A site whose administration is at `/admin/`, which its front page does not link. */
export const WAGTAIL = ofPyPI('wagtail', {
  prepare({ port, scratch }) {
    const site = join(scratch, 'site');
    mkdirSync(site);
    const run = (args: string[], variables = {}) => {
      const call = runPython('wagtail', args, variables);
      execFileSync(call.command, call.args, { stdio: 'pipe' });
    };
    run([programOf('wagtail', 'wagtail'), 'start', 'board', site]);
    const manage = join(site, 'manage.py');
    run([manage, 'migrate', '--verbosity', '0']);
    const person = { DJANGO_SUPERUSER_USERNAME: USER, DJANGO_SUPERUSER_PASSWORD: PASSWORD };
    run([manage, 'createsuperuser', '--noinput', '--email', 'ada@example.com'], person);
    return runPython('wagtail', [manage, 'runserver', '--noreload', `127.0.0.1:${port}`]);
  },
  readyPath: '/admin/login/',
});

const HASH = 'import sys; from jupyter_server.auth import passwd; print(passwd(sys.argv[1], "sha256"))';

/** Notebooks behind a password without a user name. */
export const JUPYTER = ofPyPI('jupyter', {
  prepare({ port, scratch }) {
    const call = runPython('jupyter', ['-c', HASH, PASSWORD]);
    const hash = execFileSync(call.command, call.args, { encoding: 'utf8' }).trim();
    const options = { port, ip: '127.0.0.1', open_browser: 'False', root_dir: scratch, allow_root: 'True' };
    const own = Object.entries(options).map(([key, value]) => `--ServerApp.${key}=${value}`);
    const password = `--PasswordIdentityProvider.hashed_password=${hash}`;
    const variables = { HOME: scratch, JUPYTER_CONFIG_DIR: join(scratch, 'config') };
    return runPython('jupyter', ['-m', 'jupyter_server', ...own, password], variables);
  },
  readyPath: '/login',
});

const HASH_TWICE = `
import hashlib, sys
digest = lambda text, salt: hashlib.pbkdf2_hmac('sha256', text.encode(), salt.encode(), 100000, dklen=128).hex()
print('salt$' + digest(digest(sys.argv[1], ''), 'salt'), end='')`;

/** The state of a machine, behind HTTP Basic. */
export const GLANCES = ofPyPI('glances', {
  prepare({ port, scratch }) {
    const hash = execFileSync('python3', ['-c', HASH_TWICE, PASSWORD], { encoding: 'utf8' });
    writeFileSync(join(scratch, `${USER}.pwd`), hash);
    const settings = join(scratch, 'glances.conf');
    writeFileSync(settings, `[passwords]\nlocal_password_path=${scratch}\n`);
    const address = ['--bind', '127.0.0.1', '--port', String(port)];
    const options = ['-w', ...address, '-u', USER, '--config', settings, '--disable-check-update'];
    return runPython('glances', [programOf('glances', 'glances'), ...options], { HOME: scratch });
  },
});

/** The workers of a queue, behind HTTP Basic. */
export const FLOWER = ofPyPI('flower', {
  prepare({ port }) {
    const address = ['--address=127.0.0.1', `--port=${port}`];
    const options = ['--broker=memory://', 'flower', ...address, `--basic-auth=${USER}:${PASSWORD}`];
    return runPython('flower', [programOf('flower', 'celery'), ...options]);
  },
});

/** HTTP Basic at `/login` alone, which gives a cookie for the rest of the site. */
export const TRAC = ofPyPI('trac', {
  prepare({ port, scratch }) {
    const project = join(scratch, 'board');
    const call = runPython('trac', [programOf('trac', 'trac-admin'), project, 'initenv', 'Board', 'sqlite:db/trac.db']);
    execFileSync(call.command, call.args, { stdio: 'pipe' });
    const users = join(scratch, 'users');
    writeFileSync(users, `${USER}:{SHA}${createHash('sha1').update(PASSWORD).digest('base64')}\n`);
    const address = ['--hostname', '127.0.0.1', '--port', String(port), '--single-env'];
    const program = programOf('trac', 'tracd');
    return runPython('trac', [program, ...address, `--basic-auth=*,${users},board`, project]);
  },
});
