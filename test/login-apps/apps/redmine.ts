import { execFile } from 'node:child_process';
import { appendFileSync, cpSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PASSWORD, USER } from '../app.ts';
import type { App } from '../app.ts';

const run = promisify(execFile);
const SOURCE = '/usr/share/redmine';

/** The person with an authenticator. */
export const CAREFUL = 'grace';
/** Base 32, of that authenticator. */
export const CAREFUL_SECRET = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP';

const buildSeed = (host: string) => `
Setting.self_registration = '1' # confirmed by e-mail
Setting.login_required = '1'
Setting.host_name = '${host}'
Setting.mail_from = 'redmine@example.com'
def add(login)
  user = User.new(firstname: login.capitalize, lastname: 'Example', mail: login + '@example.com', language: 'en')
  user.login = login
  user.password = user.password_confirmation = ${JSON.stringify(PASSWORD)}
  user.save!
  user
end
add(${JSON.stringify(USER)})
add(${JSON.stringify(CAREFUL)}).update!(twofa_scheme: 'totp', twofa_totp_key: ${JSON.stringify(CAREFUL_SECRET)})
`;

const buildMail = (port: number) => `production:
  email_delivery:
    delivery_method: :smtp
    smtp_settings: { address: 127.0.0.1, port: ${port}, enable_starttls_auto: false }
`;

/** On Rails: CSRF tokens, accounts that people create and confirm by e-mail, authenticator codes. */
export const REDMINE: App = {
  name: 'redmine',
  file: join(SOURCE, 'config.ru'),
  package: 'redmine-sqlite',
  async prepare({ port, url, scratch, smtpPort }) {
    const folder = join(scratch, 'redmine');
    cpSync(SOURCE, folder, { recursive: true, filter: (path) => path !== join(SOURCE, 'instances') });
    const instance = join(folder, 'instances/default');
    for (const name of ['config', 'tmp', 'log', 'files']) mkdirSync(join(instance, name), { recursive: true });
    for (const name of ['tmp', 'log']) mkdirSync(join(folder, name), { recursive: true });
    const database = `production: { adapter: sqlite3, database: "${join(scratch, 'redmine.db')}" }\n`;
    // The bundle reads one file for the drivers that it needs, the application reads the other.
    for (const config of [join(folder, 'config'), join(instance, 'config')]) {
      for (const name of readdirSync(config))
        if (/^(database|configuration)\.yml$/.test(name)) rmSync(join(config, name));
      writeFileSync(join(config, 'database.yml'), database);
      writeFileSync(join(config, 'configuration.yml'), buildMail(smtpPort));
    }
    writeFileSync(join(instance, 'config/secret_key.txt'), 'f'.repeat(64));
    // The installed server is not in its bundle.
    appendFileSync(join(folder, 'Gemfile'), '\ngem "webrick"\n');
    const lock = join(folder, 'Gemfile.lock');
    rmSync(lock, { force: true });
    cpSync('/var/lib/redmine/Gemfile.lock', lock);
    const seed = join(scratch, 'seed.rb');
    writeFileSync(seed, buildSeed(new URL(url).host));

    const env = { PATH: process.env['PATH'], HOME: scratch, RAILS_ENV: 'production', REDMINE_LANG: 'en' };
    const ruby = (...args: string[]) => run('bundle', ['exec', ...args], { cwd: folder, env });
    await ruby('rake', 'db:migrate');
    await ruby('rails', 'runner', seed);
    const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
    const server = ['bundle', 'exec', 'rails', 'server', '-b', '127.0.0.1', '-p', String(port), '-u', 'webrick'];
    return { command: 'env', args: ['-C', folder, ...variables, ...server] };
  },
  readyPath: '/login',
};
