import { expect, test } from 'vitest';
import { waitFor } from '../../support/cluster/cluster.ts';
import { openConversation } from '../../support/cluster/node/conversation.ts';
import type { Installation } from '../../support/cluster/node/installation.ts';

const SLOW_MS = 180_000;
const NAME = 'standard';

/** A pod with a disk that waits for anyone: the first session of a new subject gets both. */
export function testWarmPool(find: () => Installation): void {
  test('a new subject gets a pod of the warm pool with its disk, and keeps the disk', async () => {
    const { client, kubectl, apply, sandboxes } = find();
    const read = (kind: string, name: string, path: string): Promise<string> =>
      kubectl('get', kind, name, '-o', `jsonpath=${path}`);
    const listPool = () =>
      kubectl('get', 'pods', '-l', `capstan.dev/class=${NAME},capstan.dev/warm=true`, '-o', 'name');
    const metadata = { name: NAME, namespace: sandboxes };
    const spec = { warm: { target: 1 } };
    await apply({ apiVersion: 'capstan.dev/v1alpha1', kind: 'SandboxClass', metadata, spec });
    const isReady = async () => (await read('sandboxclass', NAME, '{.status.warm.ready}')) === '1';
    await waitFor('a warm pod', isReady, SLOW_MS);
    const pod = (await listPool()).trim().replace('pod/', '');
    const body = { name: 'Warm', modelName: 'script/demo', systemPrompt: 'Be brief.', skills: [], tools: [] };
    const { id: agentId } = await client.createAgent({ ...body, environment: { sandboxClass: NAME } });
    const eve = await openConversation(find(), { subjectId: 'eve', agentId });
    expect(await eve.run('echo kept > note; cat /etc/hostname')).toBe(pod);
    const volume = await read('session', eve.name, '{.spec.volumeName}');
    await expect.poll(() => read('volume', volume, '{.status.claimName} {.status.phase}')).toBe(`${pod} Ready`);
    await waitFor('the pool is filled again', isReady, SLOW_MS);
    expect(await listPool()).not.toContain(pod);
    // The disk stays the subject's; a pod of the pool cannot mount it.
    await kubectl('delete', 'pod', pod, '--wait=false');
    expect(await eve.run('cat note; cat /etc/hostname')).toBe(`kept\n${eve.name}`);
    await kubectl('scale', 'sandboxclass', NAME, '--replicas=0');
    await waitFor('the pool is empty', async () => (await listPool()) === '', SLOW_MS);
  });
}
