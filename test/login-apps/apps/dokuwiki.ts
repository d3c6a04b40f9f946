import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PASSWORD, USER } from '../app.ts';
import type { App } from '../app.ts';

const KEPT = ['attic', 'cache', 'index', 'locks', 'log', 'media', 'media_attic', 'media_meta', 'meta', 'pages', 'tmp'];

const hash = (password: string) =>
  execFileSync('php', ['-r', 'echo password_hash($argv[1], PASSWORD_BCRYPT);', password], { encoding: 'utf8' });

/** A private wiki: a classic form among links, search and buttons, with "remember me". */
export const DOKUWIKI: App = {
  name: 'dokuwiki',
  file: '/usr/share/dokuwiki/doku.php',
  package: 'dokuwiki',
  prepare({ port, scratch }) {
    const settings = join(scratch, 'settings');
    const data = join(scratch, 'data');
    mkdirSync(settings);
    for (const name of KEPT) mkdirSync(join(data, name), { recursive: true });
    const write = (name: string, text: string) => writeFileSync(join(settings, name), text);
    write(
      'local.php',
      `<?php $conf['savedir'] = '${data}'; $conf['useacl'] = 1; $conf['superuser'] = '@admin'; $conf['title'] = 'Wiki';`,
    );
    write('plugins.local.php', '<?php');
    write('acl.auth.php', '# <?php exit()?>\n*\t@ALL\t0\n*\t@user\t8\n');
    write('users.auth.php', `# <?php exit()?>\n${USER}:${hash(PASSWORD)}:Ada Lovelace:ada@example.com:user\n`);
    writeFileSync(join(data, 'pages/start.txt'), '====== Minutes of the board ======\nNot for everybody.\n');
    const prepend = join(scratch, 'prepend.php');
    writeFileSync(prepend, `<?php if (!defined('DOKU_CONF')) define('DOKU_CONF', '${settings}/');`);
    const options = ['auto_prepend_file=' + prepend, 'display_errors=0'].flatMap((option) => ['-d', option]);
    return { command: 'php', args: [...options, '-S', `127.0.0.1:${port}`, '-t', '/usr/share/dokuwiki'] };
  },
  readyPath: '/doku.php',
};
