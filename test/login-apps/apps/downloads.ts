import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PASSWORD, USER } from '../app.ts';
import type { App } from '../app.ts';

/** HTTP Basic, without a login page. */
export const TRANSMISSION: App = {
  name: 'transmission',
  file: '/usr/bin/transmission-daemon',
  package: 'transmission-daemon',
  prepare({ port, scratch }) {
    const settings = {
      'rpc-authentication-required': true,
      'rpc-bind-address': '127.0.0.1',
      'rpc-enabled': true,
      'rpc-port': port,
      'rpc-username': USER,
      'rpc-password': PASSWORD,
      'rpc-whitelist-enabled': false,
      'rpc-host-whitelist-enabled': false,
      'download-dir': join(scratch, 'downloads'),
      'dht-enabled': false,
      'lpd-enabled': false,
      'pex-enabled': false,
      'utp-enabled': false,
      'port-forwarding-enabled': false,
      'bind-address-ipv4': '127.0.0.1',
      'bind-address-ipv6': '::1',
      'peer-port': 0,
      'peer-port-random-on-start': true,
    };
    writeFileSync(join(scratch, 'settings.json'), JSON.stringify(settings));
    return { command: 'transmission-daemon', args: ['--foreground', '--config-dir', scratch] };
  },
};

const PRINT_DIGEST = 'import hashlib,sys; print(hashlib.sha1((sys.argv[1] + sys.argv[2]).encode()).hexdigest())';

/** A script-drawn page without a form, whose dialog asks for a password alone, through JSON calls. */
export const DELUGE: App = {
  name: 'deluge',
  file: '/usr/bin/deluge-web',
  package: 'deluge-web',
  prepare({ port, scratch }) {
    const salt = 'c26ab3bbd8b137f99cd83c2c1c0963bcc1a35cad';
    const digest = execFileSync('/usr/bin/python3', ['-c', PRINT_DIGEST, salt, PASSWORD], { encoding: 'utf8' }).trim();
    const settings = { port, interface: '127.0.0.1', pwd_salt: salt, pwd_sha1: digest, first_login: false };
    const folder = join(scratch, 'settings');
    mkdirSync(folder);
    writeFileSync(join(folder, 'web.conf'), `${JSON.stringify({ file: 2, format: 1 })}${JSON.stringify(settings)}`);
    return {
      command: 'deluge-web',
      args: ['--do-not-daemonize', '--config', folder, '--interface', '127.0.0.1', '--port', String(port)],
    };
  },
};
