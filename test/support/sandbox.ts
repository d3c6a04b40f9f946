import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rgPath } from '@vscode/ripgrep';
import { openProcessSandboxes } from '../../src/sandbox/process/process.ts';
import type { ProcessSandboxOptions } from '../../src/sandbox/process/options.ts';
import type { SandboxTarget, Sandboxes } from '../../src/sandbox/sandbox.ts';
import { openLog } from '../../src/platform/log.ts';

export const NEVER = new AbortController().signal;

export type LocalSandboxes = { sandboxes: Sandboxes; dir: string; close(): Promise<void> };

/** Real process sandboxes on a folder of their own. */
export async function openLocalSandboxes(options: Partial<ProcessSandboxOptions> = {}): Promise<LocalSandboxes> {
  const dir = mkdtempSync(join(tmpdir(), 'capstan-test-'));
  const log = openLog({ level: 'silent', pretty: false });
  const sandboxes = await openProcessSandboxes({
    dir,
    network: 'none',
    rgPath,
    allowUnwrapped: false,
    log,
    ...options,
  });
  return {
    sandboxes,
    dir,
    async close() {
      await sandboxes.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

let counter = 0;

/** A subject and session of their own, so that tests share one adapter without meeting. */
export function newTarget(over: Partial<SandboxTarget> = {}): SandboxTarget {
  counter += 1;
  return {
    organizationId: 'org_1',
    agentId: 'agt_1',
    subjectId: `subject ${counter}`,
    sessionId: `ses_${counter}`,
    ...over,
  };
}
