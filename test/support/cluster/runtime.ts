import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rgPath } from '@vscode/ripgrep';
import { ETC_FILES, buildBubblewrapOptions } from '../../../src/sandbox/process/bubblewrap.ts';
import { LABELS } from '../../../src/platform/kubernetes/resource.ts';
import type { Pod } from '../../../src/platform/kubernetes/types.ts';
import type { Runtime } from './kubelet.ts';

const SIZES = { volumeBytes: 2 ** 32, tmpBytes: 2 ** 29, maxProcesses: 512 };

const HOME = '/opt/capstan';
let address = 1;

type Whole = Pod & { spec: { volumes: { persistentVolumeClaim?: { claimName: string } }[] } };

/** A claim that a volume creates has its name, also after the volume was deleted and created again. */
function nameDisk({ metadata, spec }: Whole): string {
  const claim = spec.volumes.find(({ persistentVolumeClaim }) => persistentVolumeClaim !== undefined);
  const name = claim?.persistentVolumeClaim?.claimName ?? 'none';
  const { [LABELS.volume]: volume, [LABELS.volumeUid]: uid } = metadata.labels ?? {};
  return name === volume ? `volume-${uid}` : `claim-${name}`;
}

/**
 * Runs the container of a pod for real, with bubblewrap on this machine: the executor with exactly the operator's
 * arguments, on its own address of 127.0.0.0/8, on a folder in place of the claim.
 */
export function openRuntime(): Runtime & { kill(podUid: string): void; close(): void } {
  const root = mkdtempSync(join(tmpdir(), 'capstan-runtime-'));
  const children = new Map<string, ChildProcess>();

  const prepare = (pod: Pod): { folder: string; volume: string } => {
    const folder = join(root, pod.metadata.uid);
    for (const name of ['run', 'etc/ssl/certs', 'etc/alternatives', 'etc/ca-certificates']) {
      mkdirSync(join(folder, name), { recursive: true });
    }
    for (const [name, text] of Object.entries(ETC_FILES)) writeFileSync(join(folder, 'etc', name), text);
    for (const name of ['ld.so.cache', 'ssl/openssl.cnf', 'localtime', 'resolv.conf']) {
      writeFileSync(join(folder, 'etc', name), '');
    }
    const volume = join(root, nameDisk(pod as Whole));
    mkdirSync(volume, { recursive: true });
    return { folder, volume };
  };

  return {
    async start(pod, args) {
      const nodePath = realpathSync(process.execPath);
      const paths = { nodePath, sealedNodePath: nodePath, rgPath: realpathSync(rgPath), ...prepare(pod) };
      const walls = buildBubblewrapOptions({ network: 'host', ...SIZES, ...paths }, ({ source }) => source);
      address += 1;
      const ip = `127.${process.pid % 200}.${(address >> 8) & 255}.${address & 255}`;
      const own = args.map((argument) => argument.replace('$(POD_UID)', pod.metadata.uid).replace('$(POD_IP)', ip));
      const program = [`${HOME}/bin/node`, `${HOME}/sandbox-image/executor/main.ts`, ...own];
      const command = [...walls, '--', ...program];
      const child = spawn('bwrap', [...command, '--rg', `${HOME}/bin/rg`, '--exit-on-stdin-eof'], {
        stdio: ['pipe', 'pipe', 'inherit'],
        env: {},
      });
      children.set(pod.metadata.uid, child);
      await new Promise<void>((resolve, reject) => {
        child.stdout.on('data', () => resolve());
        child.once('error', reject);
        child.once('exit', () => reject(new Error('the executor ended')));
      });
      return ip;
    },
    async stop(pod) {
      const child = children.get(pod.metadata.uid);
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGKILL');
      await ended;
    },
    kill: (podUid) => void children.get(podUid)?.kill('SIGKILL'),
    close() {
      for (const child of children.values()) child.kill('SIGKILL');
      rmSync(root, { recursive: true, force: true });
    },
  };
}
