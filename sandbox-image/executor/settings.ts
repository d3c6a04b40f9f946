import { parseArgs } from 'node:util';

/** What the executor is told at its start. Nothing here is secret. */
export type Settings = {
  /** the volume's root; no file operation leaves it */
  workspace: string;
  /** private folder outside the workspace: working directory, environment */
  stateDir: string;
  rgPath: string;
  /** `unix:/path` or `host:port` */
  listen: string;
  /** processes of one user, where the kernel counts them for this sandbox alone (`ulimit -u`) */
  maxProcesses: number;
  /** the pid namespace is this executor's own: the limit is kept by killing, too */
  ownPids: boolean;
  /** exit at the end of stdin, a pipe from the parent process: that is how the parent's death is noticed */
  exitOnStdinEof: boolean;
  /** writable private memory of one process in MiB (`ulimit -d`) */
  maxMemoryMb: number;
  /** callers on TCP show what is signed by the private half of this key (Ed25519, base64url), for this executor */
  trust: { publicKey: string; audience: string } | undefined;
  /** what the volume may hold; writes past it are refused (EDQUOT) */
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
