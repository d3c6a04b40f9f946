import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { makeScratch } from '../../support/scratch.ts';
import { continueConversation, openConversation } from '../../support/cluster/node/conversation.ts';
import type { Installation } from '../../support/cluster/node/installation.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** The commands of operations.md: the blocks of its chapter on backups, in order. */
function readCommands(): string[] {
  const chapter =
    /^## Backup and restore\n(.*?)^## /ms.exec(readFileSync(`${ROOT}docs/operations.md`, 'utf8'))?.[1] ?? '';
  return [...chapter.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, commands = '']) => commands);
}

/** The release loses its database and its keys, and is restored from a backup. */
export function testRestore(find: () => Installation): void {
  test('a backup brings back sessions, keys and files', async () => {
    const { helm, kubectl, namespace, sandboxes, environment, reconnect } = find();
    const [backup, restore, ...others] = readCommands();
    expect(others).toEqual([]);
    const folder = makeScratch('backup');
    const env = { ...environment, NAMESPACE: namespace, SANDBOXES: sandboxes, BACKUP: folder };
    const run = (commands = 'exit 1') =>
      promisify(execFile)('bash', ['-euo', 'pipefail', '-c', commands], { cwd: ROOT, env, maxBuffer: 2 ** 26 });
    const readKeys = () => kubectl('-n', namespace, 'get', 'secret', 'capstan-keys', '-o', 'jsonpath={.data}');

    const ida = await openConversation(find(), { subjectId: 'ida' });
    expect(await ida.run('echo kept | tee note')).toBe('kept');
    const events = await ida.events();
    const keys = await readKeys();
    const volume = await kubectl('get', 'session', ida.name, '-o', 'jsonpath={.spec.volumeName}');
    const volumeUid = await kubectl('get', 'volume', volume, '-o', 'jsonpath={.metadata.uid}');
    await run(backup);

    await helm('uninstall', 'capstan', '--wait', '--timeout', '3m');
    const lost = ['pvc/data-capstan-postgresql-0', 'secret/capstan-keys', 'secret/capstan-backends'];
    await kubectl('-n', namespace, 'delete', '--timeout=2m', ...lost);
    await expect(kubectl('get', 'session', ida.name)).rejects.toThrow('NotFound');

    await run(restore);
    expect(await readKeys()).toBe(keys);
    await reconnect();
    const restored = continueConversation(find(), ida);
    expect(await restored.events()).toEqual(events);
    expect(await restored.run('cat note')).toBe('kept');
    expect(await kubectl('get', 'volume', volume, '-o', 'jsonpath={.metadata.uid}')).toBe(volumeUid);
  });
}
