import { execFileSync } from 'node:child_process';
import { appendFileSync, chmodSync, chownSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { randomToken } from '../../src/platform/crypto.ts';
import { makeScratch } from '../support/scratch.ts';
import { findFreePort, startServer } from '../support/services/process.ts';

/** Its path in the package; checked by `isInstalled`. */
export const DOVECOT = { file: '/usr/sbin/dovecot', package: 'dovecot-imapd' };
export const MAIL_PASSWORD = 'Canary-mailbox9';

export type MailServer = {
  /** of TLS, where the server has a certificate; else of plain connections */
  port: number;
  /** of 127.0.0.1, self-signed; undefined without TLS */
  certificate: string | undefined;
  /** Puts an email into an account's mailbox, or into a folder of it. */
  deliver(account: string, email: string | Uint8Array, folder?: string): void;
  stop(): Promise<void>;
};

/** The user of the processes that store emails: root is not allowed. */
function findKeeper(): { name: string; uid: number; gid: number; group: string } {
  const uid = process.getuid?.() ?? 0;
  const read = (...args: string[]) => execFileSync('id', args).toString().trim();
  const name = uid === 0 ? 'nobody' : read('-un');
  return { name, uid: Number(read('-u', name)), gid: Number(read('-g', name)), group: read('-gn', name) };
}

function buildConfig(scratch: string, port: number, pem: string | undefined): string {
  const { name, uid, gid, group } = findKeeper();
  const service = (kind: string) => `service ${kind} {\n chroot =\n user = ${name}\n }`;
  return `
base_dir = ${scratch}/run
state_dir = ${scratch}/state
log_path = /dev/stderr
protocols = imap
listen = 127.0.0.1
default_internal_user = ${name}
default_internal_group = ${group}
default_login_user = ${name}
first_valid_uid = 1
first_valid_gid = 0
disable_plaintext_auth = no
${pem === undefined ? 'ssl = no' : `ssl = required\nssl_cert = <${pem}\nssl_key = <${pem}`}
mail_location = maildir:${scratch}/mail/%u
passdb {
  driver = static
  args = password=${MAIL_PASSWORD}
}
userdb {
  driver = static
  args = uid=${uid} gid=${gid} home=${scratch}/home/%u
}
namespace inbox {
  inbox = yes
}
service imap-login {
  chroot =
  inet_listener imap {
    port = ${pem === undefined ? port : 0}
  }
  inet_listener imaps {
    port = ${pem === undefined ? 0 : port}
    ssl = yes
  }
}
${service('anvil')}
${service('stats')}
`;
}

/** Key and certificate in one file. */
function makeCertificate(scratch: string): string {
  const pem = join(scratch, 'server.pem');
  const kind = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1'];
  const names = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'];
  execFileSync('openssl', [...kind, ...names, '-keyout', pem, '-out', `${pem}.crt`], { stdio: 'pipe' });
  appendFileSync(pem, readFileSync(`${pem}.crt`));
  return pem;
}

/** A real IMAP server in its own folder. Every name is an account, and all have the same password. */
export async function startDovecot(options: { tls: boolean } = { tls: false }): Promise<MailServer> {
  const scratch = makeScratch('dovecot');
  const port = await findFreePort();
  const pem = options.tls ? makeCertificate(scratch) : undefined;
  const config = join(scratch, 'dovecot.conf');
  writeFileSync(config, buildConfig(scratch, port, pem));
  const { uid, gid } = findKeeper();
  for (const folder of ['mail', 'home', 'state']) {
    mkdirSync(join(scratch, folder));
    chownSync(join(scratch, folder), uid, gid);
  }
  chmodSync(scratch, 0o755);
  const server = await startServer({
    command: DOVECOT.file,
    args: ['-F', '-c', config],
    scratch,
    url: `imap://127.0.0.1:${port}`,
    ready: () =>
      new Promise((resolve, reject) => {
        const socket = connect(port, '127.0.0.1', () => resolve(void socket.destroy()));
        socket.once('error', reject);
      }),
  });
  const makeFolder = (path: string) => {
    mkdirSync(path, { recursive: true });
    chownSync(path, uid, gid);
    return path;
  };
  return {
    port,
    certificate:
      pem === undefined
        ? undefined
        : readFileSync(pem, 'utf8').replace(/-----BEGIN PRIVATE[^]*?PRIVATE KEY-----\s*/, ''),
    deliver(account, email, folder) {
      const name = `${Date.now()}.${randomToken(8)}.test`;
      const home = makeFolder(join(scratch, 'mail', account));
      const box = folder === undefined ? home : makeFolder(join(home, `.${folder}`));
      for (const part of ['tmp', 'new', 'cur']) makeFolder(join(box, part));
      const written = join(box, 'tmp', name);
      writeFileSync(written, email);
      chownSync(written, uid, gid);
      renameSync(written, join(box, 'new', name));
    },
    stop: () => server.stop(),
  };
}
