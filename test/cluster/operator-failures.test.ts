import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Session } from '../../src/sandbox/resources/session.ts';
import { findCluster, waitFor } from '../support/cluster/cluster.ts';
import type { Cluster } from '../support/cluster/cluster.ts';
import { UNSCHEDULABLE, buildContainer, buildRunning, buildWaiting } from '../support/cluster/kubelet.ts';
import { runKubectl } from '../support/cluster/kubectl.ts';
import { openStage } from '../support/cluster/operator.ts';
import type { Stage } from '../support/cluster/operator.ts';

const found = await findCluster();

describe.skipIf(found === undefined)('the operator, where pods do not run as they should', () => {
  let cluster: Cluster;
  let stage: Stage;
  let node: Stage['node'];
  let api: Stage['api'];

  beforeAll(async () => {
    cluster = found as Cluster;
    stage = await openStage(cluster);
    ({ node, api } = stage);
  });
  afterAll(() => stage?.close());
  beforeEach(() => node.behave('run'));

  test.each([
    ['Unschedulable', 'Pending', UNSCHEDULABLE, '0/3 nodes are available'],
    ['ImagePullFailed', 'Failed', buildWaiting('ImagePullBackOff', 'no such tag'), 'no such tag'],
    ['ContainerCannotStart', 'Failed', buildWaiting('CreateContainerConfigError', 'no such user'), 'no such user'],
  ])('%s: the pod is kept, the session says why and goes on when it is mended', async (reason, phase, status, text) => {
    node.behave({ status });
    const name = await stage.newSession();
    const { session, ready } = await api.untilReason(name, reason);
    expect(session.status?.phase).toBe(phase);
    expect(ready).toMatchObject({ status: 'False', message: expect.stringContaining(text) });
    const before = node.pods.get(name)?.metadata.uid;
    await node.report(name, buildRunning('10.9.0.1'));
    expect((await api.untilPhase(name, 'Running')).status?.podUid).toBe(before);
  });

  test.each([
    ['an evicted pod', { phase: 'Failed', reason: 'Evicted', message: 'low on memory' }, /evicted .*low on memory/],
    [
      'a pod that ran out of memory',
      {
        phase: 'Failed',
        containerStatuses: [buildContainer(false, { terminated: { reason: 'OOMKilled', exitCode: 137 } })],
      },
      /exceeded its memory limit/,
    ],
    [
      'a pod that ended',
      { phase: 'Failed', containerStatuses: [buildContainer(false, { terminated: { reason: 'Error', exitCode: 3 } })] },
      /exit code 3/,
    ],
  ])('%s is replaced on the same volume, and an event tells why', async (_, status, text) => {
    const { metadata, status: before } = await stage.newRunning();
    await node.report(metadata.name, status);
    const after = await waitFor('another pod', async () => {
      const session = await api.find<Session>('sessions', metadata.name);
      return session?.status?.phase === 'Running' && session.status.podUid !== before?.podUid ? session : undefined;
    });
    expect(after.status?.podName).toBe(metadata.name);
    // Events are gone after an hour; that it has restarted, and why, is not.
    const restarted = after.status?.conditions?.find(({ type }) => type === 'Restarted');
    expect(restarted).toMatchObject({ status: 'True', message: expect.stringMatching(text) });
    await waitFor('an event', async () => {
      const events = await runKubectl(cluster, [
        'get',
        'events',
        '-o',
        'jsonpath={range .items[*]}{.involvedObject.name} {.message}{"\\n"}{end}',
      ]);
      return events.split('\n').some((line) => line.startsWith(metadata.name) && text.test(line));
    });
  });

  test('a pod that ends before it accepts calls is restarted with growing delays', async () => {
    node.behave({ status: { phase: 'Failed', reason: 'Broken', message: 'broken' } });
    const name = await stage.newSession();
    const { session, ready } = await api.untilReason(name, 'BackOff');
    expect(session.status).toMatchObject({ phase: 'Failed', failures: 2 });
    expect(ready.message).toContain('2 pods in a row');
    node.behave('run');
    const after = await api.untilPhase(name, 'Running');
    expect(after.status?.failures).toBeUndefined();
  });

  test('on a lost node: the pod may still run, so there is no other before it is gone', async () => {
    const { metadata, status } = await stage.newRunning();
    node.fail();
    await node.report(metadata.name, {
      conditions: [
        { type: 'PodScheduled', status: 'True' },
        { type: 'Ready', status: 'False' },
        { type: 'DisruptionTarget', status: 'True', reason: 'DeletionByTaintManager' },
      ],
    });
    expect((await api.untilReason(metadata.name, 'PodNotReady')).session.status?.phase).toBe('Starting');
    await api.remove('pods', metadata.name);
    const { session, ready } = await api.untilReason(metadata.name, 'NodeLost');
    expect(ready.message).toContain('Node node-1 does not respond');
    expect(session.status).toMatchObject({ phase: 'Pending', podUid: status?.podUid });
    expect(session.status?.podIP).toBeUndefined();
    node.recover();
    expect((await api.untilPhase(metadata.name, 'Running')).status?.podUid).not.toBe(status?.podUid);
  });

  test('events tell what a person may look into, in its order, and nothing that conditions tell of every session', async () => {
    const idle = await stage.newSession({ desiredState: 'Suspended' });
    await api.untilReason(idle, 'NotStarted');
    const { metadata, spec, status } = await stage.newRunning();
    const read = async (name: string) => {
      const events = await runKubectl(cluster, ['describe', 'sessions.capstan.dev', name]);
      return [...events.matchAll(/^ {2}(Normal|Warning) +(\w+)/gm)].map(([, type, reason]) => `${type} ${reason}`);
    };
    await node.report(metadata.name, { phase: 'Failed', reason: 'Evicted', message: 'low on memory' });
    await waitFor('another pod', async () => {
      const session = await api.find<Session>('sessions', metadata.name);
      return session?.status?.phase === 'Running' && session.status.podUid !== status?.podUid;
    });
    await api.patch('volumes', spec.volumeName, { spec: { publicKey: 'B'.repeat(43) } });
    const steps = ['Warning Evicted', 'Normal KeyChanged'];
    await waitFor('all events', async () => (await read(metadata.name)).length >= steps.length);
    await api.untilPhase(metadata.name, 'Running');
    expect(await read(metadata.name)).toEqual(steps);
    expect(await read(idle)).toEqual([]);
  });

  test('no session ever had two pods', () => {
    expect(node.violations).toEqual([]);
  });
});
