import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ExecutorOperations, ScriptResult } from '../../../src/sandbox/protocol/executor.ts';
import type { Settings } from '../settings.ts';
import { awaitEnd } from './end.ts';
import { killTree } from './kill.ts';
import { collectOutput } from './output.ts';
import { openRequests } from './requests.ts';
import type { Requests } from './requests.ts';
import type { Shell } from './shell.ts';

const ERROR_CAP = 10_000;
/** Grace period for processes that a script leaves running. */
const REST_GRACE_MS = 200;

export type Scripts = {
  run(
    id: string,
    input: ExecutorOperations['runScript']['input'],
    signal: AbortSignal,
    onRequest: (request: number, text: string) => void,
  ): Promise<ScriptResult>;
  answer(input: ExecutorOperations['answerScript']['input']): boolean;
};

/** Running scripts by the ids of their calls, to which answers are routed. */
export function openScripts(shell: Shell, settings: Settings): Scripts {
  const running = new Map<string, Requests>();
  return {
    async run(id, { command, files, timeoutMs, maxRequests }, signal, onRequest) {
      // short, because a socket's path is limited to 107 bytes
      const folder = mkdtempSync(join(settings.stateDir, 's-'));
      try {
        for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text, { mode: 0o600 });
        const requests = await openRequests(join(folder, 'rpc'), maxRequests, onRequest);
        running.set(id, requests);
        try {
          // set for this command only, not in the environment that the session saves
          const text = `export CAPSTAN_SCRIPT='${folder}'\n${command}`;
          const started = shell.start({ command: text, stdin: false, persistState: false, splitStderr: true });
          const output = collectOutput();
          const errors = collectOutput(ERROR_CAP);
          started.child.stdout?.on('data', (chunk: Buffer) => output.push(chunk));
          started.child.stderr?.on('data', (chunk: Buffer) => errors.push(chunk));
          const end = await awaitEnd(started, timeoutMs, signal);
          if (started.child.pid !== undefined) await killTree(started.child.pid, started.mark, REST_GRACE_MS);
          return { output: output.end(), errors: errors.end(), ...end };
        } finally {
          running.delete(id);
          requests.close();
        }
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    },
    answer: ({ call, request, text }) => running.get(call)?.answer(request, text) === true,
  };
}
