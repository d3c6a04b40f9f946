import { parseArgs } from 'node:util';

/** The executor's settings at its start. None of them is secret. */
export type Settings = {
  /** the volume's root, which no file operation can leave */
  workspace: string;
  /** private folder outside the workspace for saved working directories and environments */
  stateDir: string;
  rgPath: string;
  /** `unix:/path` or `host:port` */
  listen: string;
  /** processes of one user (`ulimit -u`), if the kernel counts them for this sandbox alone */
  maxProcesses: number;
  /** the executor has its own pid namespace: excess processes are also killed */
  ownPids: boolean;
  /** exit when stdin, a pipe from the parent process, ends: this detects the parent's death */
  exitOnStdinEof: boolean;
  /** writable private memory of one process in MiB (`ulimit -d`) */
  maxMemoryMb: number;
  /** public key (Ed25519, base64url) that verifies the tokens of callers on TCP */
  trust: { publicKey: string; audience: string } | undefined;
  /** the volume's quota; writes beyond it are rejected (EDQUOT) */
  volumeBytes: number;
};

export function readSettings(argv: string[]): Settings {
  const { values } = parseArgs({
    args: argv,
    options: {
      workspace: { type: 'string', default: '/workspace' },
      'state-dir': { type: 'string', default: '/tmp/.capstan' },
      rg: { type: 'string', default: 'rg' },
      listen: { type: 'string', default: '0.0.0.0:8090' },
      'max-processes': { type: 'string', default: '512' },
      'own-pids': { type: 'boolean', default: false },
      'exit-on-stdin-eof': { type: 'boolean', default: false },
      'max-memory-mb': { type: 'string', default: '4096' },
      'public-key': { type: 'string' },
      audience: { type: 'string' },
      'volume-bytes': { type: 'string', default: 'Infinity' },
    },
  });
  const { 'public-key': publicKey, audience } = values;
  return {
    trust: publicKey === undefined || !audience ? undefined : { publicKey, audience },
    workspace: values.workspace,
    stateDir: values['state-dir'],
    rgPath: values.rg,
    listen: values.listen,
    maxProcesses: Number(values['max-processes']),
    ownPids: values['own-pids'],
    exitOnStdinEof: values['exit-on-stdin-eof'],
    maxMemoryMb: Number(values['max-memory-mb']),
    volumeBytes: Number(values['volume-bytes']),
  };
}
