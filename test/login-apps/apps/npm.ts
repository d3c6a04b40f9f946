import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PASSWORD, USER } from '../app.ts';
import { folderOf, ofNpm } from './registries.ts';

const modules = (name: string) => join(folderOf('npm', name), 'node_modules');

const HASH = 'console.log(require("bcryptjs").hashSync(process.argv[1], 8))';

/** An editor drawn by a script, whose login is a dialog and whose token is kept in the local storage. */
export const NODE_RED = ofNpm('node-red', {
  prepare({ port, scratch }) {
    const cwd = folderOf('npm', 'node-red');
    const hash = execFileSync(process.execPath, ['-e', HASH, PASSWORD], { cwd, encoding: 'utf8' }).trim();
    const users = [{ username: USER, password: hash, permissions: '*' }];
    const settings = {
      uiHost: '127.0.0.1',
      uiPort: port,
      adminAuth: { type: 'credentials', users },
      telemetry: { enabled: false },
      editorTheme: { tours: false },
    };
    const file = join(scratch, 'settings.js');
    writeFileSync(file, `module.exports = ${JSON.stringify(settings)};`);
    const program = join(modules('node-red'), 'node-red/red.js');
    return { command: process.execPath, args: [program, '--settings', file, '--userDir', join(scratch, 'user')] };
  },
});

/** A wiki in one page, behind HTTP Basic. */
export const TIDDLYWIKI = ofNpm('tiddlywiki', {
  prepare({ port, scratch }) {
    const program = join(modules('tiddlywiki'), 'tiddlywiki/tiddlywiki.js');
    const wiki = join(scratch, 'wiki');
    mkdirSync(wiki);
    execFileSync(process.execPath, [program, wiki, '--init', 'server'], { stdio: 'pipe' });
    const options = ['host=127.0.0.1', `port=${port}`, `username=${USER}`, `password=${PASSWORD}`];
    return { command: process.execPath, args: [program, wiki, '--listen', ...options] };
  },
});

/** Repositories in a page that a script draws, login and all. */
export const UNGIT = ofNpm('ungit', {
  prepare({ port, scratch }) {
    const settings = {
      authentication: true,
      users: { [USER]: PASSWORD },
      launchBrowser: false,
      ungitBindIp: '127.0.0.1',
    };
    writeFileSync(join(scratch, '.ungitrc'), JSON.stringify({ ...settings, port, bugtracking: false }));
    const program = join(modules('ungit'), 'ungit/bin/ungit');
    return { command: 'env', args: [`HOME=${scratch}`, process.execPath, program] };
  },
});

/** A dashboard, whose login a script draws. */
export const PARSE_DASHBOARD = ofNpm('parse-dashboard', {
  prepare({ port, scratch }) {
    const file = join(scratch, 'dashboard.json');
    const board = { serverURL: 'http://127.0.0.1:9/parse', appId: 'board', masterKey: 'none', appName: 'Board' };
    const people = [{ user: USER, pass: PASSWORD }];
    writeFileSync(file, JSON.stringify({ apps: [board], users: people }));
    const program = join(modules('parse-dashboard'), 'parse-dashboard/bin/parse-dashboard');
    const address = ['--host', '127.0.0.1', '--port', String(port), '--allowInsecureHTTP', 'true'];
    return { command: process.execPath, args: [program, '--config', file, ...address] };
  },
  readyPath: '/login',
});
