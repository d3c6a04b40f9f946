import { expect, test } from 'vitest';
import { waitFor } from '../../support/cluster/cluster.ts';
import { openConversation } from '../../support/cluster/node/conversation.ts';
import type { Conversation } from '../../support/cluster/node/conversation.ts';
import type { Installation } from '../../support/cluster/node/installation.ts';

const SLOW_MS = 180_000;

/** What sessions survive: the loss of a worker during a command, and a node that is drained. */
export function testTakeover(find: () => Installation): void {
  const readPodUid = ({ name }: Conversation): Promise<string> =>
    find().kubectl('get', 'pod', name, '-o', 'jsonpath={.metadata.uid}');

  // Killed, a worker hands over nothing; ended, it hands over what it can. The command goes on in its pod either way.
  test.each([
    ['killed', ['--grace-period=0', '--force']],
    ['ended', ['--wait=false']],
  ])('a worker takes over the command of one that is %s, and gets its outcome', async (how, options) => {
    const { kubectl, namespace } = find();
    const kim = await openConversation(find(), { subjectId: `kim-${how}` });
    expect(await kim.run('echo ready')).toBe('ready');
    const uid = await readPodUid(kim);
    const finish = await kim.start('echo run >> runs; until [ -e go ]; do sleep 0.1; done; cat runs; rm go');
    await waitFor(
      'the command runs',
      () => kubectl('exec', kim.name, '--', 'cat', '/workspace/runs').catch(() => undefined),
      SLOW_MS,
    );
    const workers = ['-n', namespace, '-l', 'app.kubernetes.io/component=worker'];
    await kubectl('delete', 'pods', ...workers, ...options);
    await kubectl('exec', kim.name, '--', 'touch', '/workspace/go');
    expect(await finish()).toBe('run');
    expect(await readPodUid(kim)).toBe(uid);
    await kubectl('-n', namespace, 'rollout', 'status', 'deployment/capstan-worker', '--timeout=5m');
  });

  test('a drained node ends the sandbox; the session says that it waits, and goes on with its files', async () => {
    const { kubectl } = find();
    const lee = await openConversation(find(), { subjectId: 'lee' });
    expect(await lee.run('echo kept | tee note')).toBe('kept');
    const uid = await readPodUid(lee);
    const node = await kubectl('get', 'pod', lee.name, '-o', 'jsonpath={.spec.nodeName}');
    const nodes = (await kubectl('get', 'nodes', '-o', 'name')).trim().split('\n');
    try {
      // Of this session alone: the release has nowhere else to go.
      await kubectl(
        'drain',
        node,
        `--pod-selector=capstan.dev/session=${lee.name}`,
        '--delete-emptydir-data',
        '--force',
      );
      await kubectl('cordon', ...nodes);
      const finish = await lee.start('cat note');
      const readReason = () => kubectl('get', 'session', lee.name, '--no-headers');
      await expect.poll(readReason, { timeout: SLOW_MS }).toMatch(/ Pending +Unschedulable /);
      await kubectl('uncordon', ...nodes);
      expect(await finish()).toBe('kept');
    } finally {
      await kubectl('uncordon', ...nodes);
    }
    expect(await readPodUid(lee)).not.toBe(uid);
  });
}
