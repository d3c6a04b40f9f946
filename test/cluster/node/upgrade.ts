import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { EventEnvelope } from '../../../clients/typescript/index.ts';
import { isLiveOnly } from '../../../clients/typescript/index.ts';
import { waitFor } from '../../support/cluster/cluster.ts';
import { expectNoEscapeFromGvisor } from './escapes.ts';
import { openConversation } from '../../support/cluster/node/conversation.ts';
import type { Installation } from '../../support/cluster/node/installation.ts';

const SLOW_MS = 120_000;
const STAYS = [
  'persistentvolumeclaim/data-capstan-nats-0',
  'persistentvolumeclaim/data-capstan-postgresql-0',
  'persistentvolumeclaim/data-capstan-s3-0',
  'secret/capstan-backends',
  'secret/capstan-keys',
];

/** The release under load: a second runtime, new settings for every role, and its end. */
export function testUpgrade(find: () => Installation): void {
  test('while every role is replaced, streams and turns lose nothing', async () => {
    const { client, upgrade, kubectl, namespace } = find();
    const gil = await openConversation(find(), { subjectId: 'gil' });
    expect(await gil.run('echo before | tee state')).toBe('before');
    const pods = async (): Promise<string[]> =>
      (await kubectl('-n', namespace, 'get', 'pods', '-l', 'app.kubernetes.io/name=capstan', '-o', 'name')).split('\n');
    const earlier = (await pods()).filter((name) => /-(api|worker)-/.test(name));
    const stop = new AbortController();
    const streamed: EventEnvelope[] = [];
    const following = (async () => {
      for await (const event of client.followEvents(gil.id, { after: 0, signal: stop.signal })) streamed.push(event);
    })();
    const answers = new Map<number | string, number>();
    let turns = 0;
    const isOver = { value: false };
    const asking = (async () => {
      // Each request uses a new connection and no retries, so that errors are not hidden by the client's patience.
      while (!isOver.value) {
        const answer = await fetch(`${find().url}/v1/sessions/${gil.id}`, {
          headers: { 'x-api-key': find().key, connection: 'close' },
        }).catch(() => undefined);
        const kind = answer?.status ?? 'no connection';
        answers.set(kind, (answers.get(kind) ?? 0) + 1);
        await answer?.arrayBuffer();
        await sleep(100);
      }
    })();
    const working = (async () => {
      for (; !isOver.value; turns += 1) expect(await gil.run(`echo ${turns} | tee -a state`)).toBe(String(turns));
    })();
    const upgrading = upgrade('settings.CAPSTAN_LOG_LEVEL=debug', 'operator.logLevel=debug').finally(() => {
      isOver.value = true;
    });
    // Waits for the end even if another part fails: helm rejects concurrent operations.
    for (const part of await Promise.allSettled([upgrading, asking, working])) {
      if (part.status === 'rejected') throw part.reason;
    }
    await waitFor(
      'the earlier pods are gone',
      async () => {
        const after = await pods();
        return earlier.every((name) => !after.includes(name));
      },
      SLOW_MS,
    );
    expect(await gil.run('wc -l < state')).toBe(String(turns + 1));
    const log = await gil.events();
    const last = log.at(-1)?.sequence ?? 0;
    await waitFor('the stream has all', () => (streamed.at(-1)?.sequence ?? 0) >= last, SLOW_MS);
    stop.abort();
    await following;
    const durable = streamed.filter((event) => !isLiveOnly(event));
    expect(durable.map(({ sequence }) => sequence)).toEqual(log.map(({ sequence }) => sequence));
    expect(turns).toBeGreaterThan(0);
    // A busy machine fails the probes of all pods at once, and a busy client reaches its limit: these are printed, not
    // counted as failures.
    process.stderr.write(`Answers during the upgrade: ${JSON.stringify([...answers])}\n`);
    expect(answers.get(200) ?? 0).toBeGreaterThan(0);
  });

  test("gVisor runs the pods when its class is named: the kernel that they see is not the node's", async () => {
    const { kubectl, upgrade } = find();
    await upgrade('sandbox.runtimeClass=gvisor');
    const hal = await openConversation(find(), { subjectId: 'hal' });
    expect(await hal.run('dmesg | grep --only-matching --max-count=1 gVisor')).toBe('gVisor');
    const kernel = await kubectl('get', 'nodes', '-o', 'jsonpath={.items[0].status.nodeInfo.kernelVersion}');
    expect(await hal.run('uname --kernel-release')).not.toBe(kernel);
    expect(await hal.run('echo kept > note; python3 -c "print(open(\'note\').read())"; node -p 6*7')).toBe(
      'kept\n\n42',
    );
    await expectNoEscapeFromGvisor(find(), hal);
    expect(await kubectl('get', 'pod', hal.name, '-o', 'jsonpath={.spec.runtimeClassName}')).toBe('gvisor');
    // Another kernel, the same disk.
    await kubectl('delete', 'pod', hal.name, '--wait=false');
    expect(await hal.run('cat note')).toBe('kept');
  });

  test('an uninstallation leaves keys, disks, volumes and definitions, and nothing else', async () => {
    const { helm, kubectl, namespace } = find();
    const volumes = (await kubectl('get', 'volumes', '-o', 'name')).trim().split('\n');
    await kubectl('delete', 'sessions.capstan.dev', '--all', '--timeout=2m');
    await helm('uninstall', 'capstan', '--wait', '--timeout', '3m');
    const list = async (where: string, kinds: string): Promise<string[]> =>
      (await kubectl('-n', where, 'get', kinds, '-o', 'name')).trim().split('\n').filter(Boolean).toSorted();
    const workloads =
      'pods,deployments,statefulsets,jobs,services,ingresses,networkpolicies,poddisruptionbudgets,leases';
    await waitFor('the pods are gone', async () => (await list(namespace, 'pods')).length === 0, SLOW_MS);
    expect(await list(namespace, workloads)).toEqual([]);
    const kept = 'secrets,persistentvolumeclaims,serviceaccounts,roles,rolebindings,configmaps';
    const own = ['configmap/kube-root-ca.crt', 'serviceaccount/default'];
    expect((await list(namespace, kept)).filter((name) => !own.includes(name))).toEqual(STAYS);
    const { sandboxes } = find();
    expect(await list(sandboxes, `${workloads},secrets,roles,rolebindings`)).toEqual([
      'lease.coordination.k8s.io/capstan-operator',
    ]);
    expect(await list(sandboxes, 'volumes.capstan.dev')).toEqual(volumes.toSorted());
    expect(await list(sandboxes, 'persistentvolumeclaims')).toHaveLength(volumes.length);
    expect(await list(sandboxes, 'sessions.capstan.dev')).toEqual([]);
    const definitions = await kubectl('get', 'customresourcedefinitions', '-o', 'name');
    expect(definitions).toContain('sessions.capstan.dev');
  });
}
