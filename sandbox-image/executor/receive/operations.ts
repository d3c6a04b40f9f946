// Tests: test/sandbox/token.test.ts
import type { ExecutorCall } from '../../../src/sandbox/protocol/executor.ts';
import type { Calls } from './calls.ts';
import type { QuotaLedger } from '../files/quota.ts';
import type { Digests } from '../files/digest.ts';
import { describeFile, describeListed } from '../files/entry.ts';
import { makeDirectory } from '../files/make-directory.ts';
import { listPage } from '../files/page.ts';
import { removeFile } from '../files/remove.ts';
import { listDirectory, statFile } from '../files/stat.ts';
import { copyFile, moveFile } from '../files/transfer.ts';
import type { ProcessTable } from '../processes/table.ts';
import { runCommand } from '../run/command.ts';
import type { Scripts } from '../run/script.ts';
import { restoreState, saveState } from '../run/state.ts';
import type { Shell } from '../run/shell.ts';
import { findFiles } from '../search/find.ts';
import { searchFiles } from '../search/ripgrep.ts';
import type { Settings } from '../settings.ts';

export type Parts = {
  settings: Settings;
  shell: Shell;
  scripts: Scripts;
  processes: ProcessTable;
  calls: Calls;
  quota: QuotaLedger;
  digests: Digests;
};

type ProcessCall = Extract<
  ExecutorCall,
  {
    operation:
      | 'startProcess'
      | 'listProcesses'
      | 'processOutput'
      | 'waitProcess'
      | 'killProcess'
      | 'writeProcess'
      | 'closeProcessInput';
  }
>;

/** Runs the operation of a call and returns its result. */
export async function runOperation(
  parts: Parts,
  call: ExecutorCall,
  signal: AbortSignal,
  frames: { output: (text: string) => void; request: (request: number, text: string) => void },
): Promise<unknown> {
  const { settings, shell, processes, quota, digests } = parts;
  const root = settings.workspace;
  switch (call.operation) {
    case 'run':
      return runCommand(shell, call.input, signal, call.input.stream === true ? frames.output : undefined);
    case 'runScript':
      return parts.scripts.run(call.id, call.input, signal, frames.request);
    case 'answerScript':
      return parts.scripts.answer(call.input);
    case 'stat':
      return statFile(root, call.input.path);
    case 'list':
      return listDirectory(root, call.input.path);
    case 'remove':
      await removeFile(root, call.input.path, { ...call.input, recursive: call.input.recursive === true });
      return null;
    case 'move':
      await moveFile(root, call.input.from, call.input.to, {
        ...call.input,
        overwrite: call.input.overwrite === true,
      });
      return describeListed(root, call.input.to, digests);
    case 'copy':
      await copyFile(root, call.input.from, call.input.to, {
        ...call.input,
        overwrite: call.input.overwrite === true,
        maxFileBytes: call.input.maxFileBytes ?? Infinity,
        quota,
      });
      return null;
    case 'makeDirectory':
      return makeDirectory(root, call.input.path, {
        ...call.input,
        createParents: call.input.createParents !== false,
      });
    case 'describe':
      return describeFile(root, call.input.path, digests);
    case 'page':
      return listPage(root, call.input, digests);
    case 'find':
      return findFiles(parts, call.input, signal);
    case 'hasCall':
      return parts.calls.has(call.input.call);
    case 'usage':
      return { usedBytes: await quota.count() };
    case 'search':
      return searchFiles(settings, call.input, signal);
    case 'saveState':
      return saveState(settings, processes);
    case 'restoreState':
      return restoreState(settings, call.input.state);
    default:
      return runProcessOperation(processes, call, signal);
  }
}

async function runProcessOperation(processes: ProcessTable, call: ProcessCall, signal: AbortSignal): Promise<unknown> {
  switch (call.operation) {
    case 'startProcess':
      return processes.start(call.input);
    case 'listProcesses':
      return processes.list();
    case 'processOutput':
      return processes.output(call.input.id);
    case 'waitProcess':
      return processes.wait(call.input.id, call.input.timeoutMs, signal);
    case 'killProcess':
      return processes.kill(call.input.id);
    case 'writeProcess':
      return processes.write(call.input.id, call.input.data);
    case 'closeProcessInput':
      return processes.closeInput(call.input.id);
  }
}
