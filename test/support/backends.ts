import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import type { ApiPorts } from '../../src/agents/api/deps.ts';
import { openMemoryBus } from '../../src/platform/bus/memory.ts';
import { openMemoryLimits } from '../../src/platform/limits/memory.ts';
import { openFiles } from '../../src/platform/objects/files.ts';
import type { SandboxInfo, SandboxTarget, Sandboxes, VolumeKey } from '../../src/sandbox/sandbox.ts';
import { openEmbeddedDatabase } from './database.ts';
import { openLocalSandboxes } from './sandbox.ts';
import type { LocalSandboxes } from './sandbox.ts';
import { openTestVaults } from './vaults.ts';

/** A sandbox port that runs no session: it records calls, and fails while `fail` is set. Files are real. */
export type NotedSandboxes = Sandboxes & {
  announced: SandboxTarget[];
  warmed: VolumeKey[];
  removed: SandboxTarget[];
  /** agents whose volumes were deleted */
  deleted: Omit<VolumeKey, 'subjectId'>[];
  deletedVolumes: VolumeKey[];
  /** what `list` finds */
  live: (SandboxInfo & { organizationId: string })[];
  fail: boolean;
};

export function openNotedSandboxes(): NotedSandboxes {
  let local: Promise<LocalSandboxes> | undefined;
  const open = async () => (await (local ??= openLocalSandboxes())).sandboxes;
  const note = async <T>(list: T[], item: T) => {
    if (noted.fail) throw new Error('the sandbox is out of order');
    list.push(item);
  };
  const noted: NotedSandboxes = {
    announced: [],
    warmed: [],
    removed: [],
    deleted: [],
    deletedVolumes: [],
    live: [],
    fail: false,
    announce: (target) => note(noted.announced, target),
    prepare: async () => undefined,
    acquire: () => Promise.reject(new Error('no sandbox here')),
    warm: (volume) => note(noted.warmed, volume),
    list: async (organizationId) => noted.live.filter((info) => info.organizationId === organizationId),
    remove: (target) => note(noted.removed, target),
    openVolume: async (volume, request) => (await open()).openVolume(volume, request),
    describeVolume: async (volume) => (await open()).describeVolume(volume),
    deleteVolume: async (volume) => {
      await note(noted.deletedVolumes, volume);
      await (await local)?.sandboxes.deleteVolume(volume);
    },
    deleteVolumes: (agent) => note(noted.deleted, agent),
    onNotice: () => {},
    ping: async () => {},
    close: async () => (await local)?.close(),
  };
  return noted;
}

export type TestBackends = ApiPorts & { sandboxes: NotedSandboxes; close(): Promise<void> };

/** Embedded backends in their own folder, and a sandbox that only records calls. */
export async function openTestBackends(): Promise<TestBackends> {
  const folder = await mkdtemp(join(tmpdir(), 'capstan-test-'));
  const database = await openEmbeddedDatabase();
  const bus = openMemoryBus();
  const limits = openMemoryLimits();
  const objects = await openFiles({ dir: join(folder, 'objects') });
  const sandboxes = openNotedSandboxes();
  return {
    db: database.db,
    bus,
    limits,
    objects,
    sandboxes,
    log: pino({ level: 'silent' }),
    models: new Set(['fast']),
    ...openTestVaults(database.db),
    close: async () => {
      await sandboxes.close();
      await objects.close();
      await limits.close();
      await bus.close();
      await database.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
