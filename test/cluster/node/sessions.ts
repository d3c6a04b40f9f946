import { expect, test } from 'vitest';
import type { EventEnvelope } from '../../../clients/typescript/index.ts';
import { waitFor } from '../../support/cluster/cluster.ts';
import { createAgent, openConversation, readOutput } from '../../support/cluster/node/conversation.ts';
import type { Conversation } from '../../support/cluster/node/conversation.ts';
import { IDLE_SECONDS } from '../../support/cluster/node/installation.ts';
import type { Installation } from '../../support/cluster/node/installation.ts';

const SLOW_MS = 180_000;

/** The life of a session from its first turn to its end, over REST and SSE, and the output of kubectl meanwhile. */
export function testSessions(find: () => Installation): void {
  let ada: Conversation;
  let lastPodUid: string;

  const read = (kind: string, name: string, path: string): Promise<string> =>
    find().kubectl('get', kind, name, '-o', `jsonpath=${path}`);
  const columns = async (kind: string, name: string): Promise<string[]> =>
    (await find().kubectl('get', kind, name, '--no-headers')).trim().split(/\s{2,}/);
  const volumeOf = ({ name }: Conversation) => read('sessions', name, '{.spec.volumeName}');

  test('an agent runs code in a pod of its session, and the events come over SSE', async () => {
    ada = await openConversation(find(), { subjectId: 'ada' });
    const stop = new AbortController();
    const streamed: EventEnvelope[] = [];
    const following = (async () => {
      for await (const event of find().client.followEvents(ada.id, { after: 0, signal: stop.signal })) {
        streamed.push(event);
        if (event.type === 'session.status_idle') return;
      }
    })();
    const output = await ada.run('echo made in a pod > made; cat made; cat /etc/hostname');
    await following;
    stop.abort();
    expect(output.split('\n')).toEqual(['made in a pod', ada.name]);
    expect(readOutput(streamed.find(({ type }) => type === 'agent.tool_result'))).toBe(output);
  });

  test('kubectl tells within 5 s what there is', async () => {
    await expect
      .poll(() => columns('sessions', ada.name), { timeout: 5000 })
      .toEqual([ada.name, ada.agentId, 'ada', 'Running', 'PodReady', ada.name, expect.any(String), expect.any(String)]);
    const [, , , , , pod = '', node] = await columns('sessions', ada.name);
    expect(await read('pod', pod, '{.spec.nodeName} {.status.phase}')).toBe(`${node} Running`);
    const volume = await volumeOf(ada);
    expect((await columns('volumes', volume)).slice(0, 5)).toEqual([volume, ada.agentId, 'ada', 'Ready', '512Mi']);
    expect(await read('pvc', volume, '{.status.phase} {.status.capacity.storage}')).toBe('Bound 512Mi');
    expect(await find().kubectl('describe', 'session', ada.name)).toMatch(/accepts calls\.\n.*\n *Reason: *PodReady\n/);
  });

  test('a pod that is killed is replaced, with the files', async () => {
    const uid = await read('pod', ada.name, '{.metadata.uid}');
    await find().kubectl('delete', 'pod', ada.name, '--wait=false');
    expect(await ada.run('cat made')).toBe('made in a pod');
    lastPodUid = await read('pod', ada.name, '{.metadata.uid}');
    expect(lastPodUid).not.toBe(uid);
  });

  test('a warm-up starts a standby pod, and the session adopts it', async () => {
    const agentId = await createAgent(find().client);
    await find().client.warmSandbox({ agentId, subjectId: 'bo' });
    const standby = await waitFor(
      'the standby pod',
      async () => {
        const path = `{.items[?(@.spec.agentId=="${agentId}")]['metadata.name','status.podIP']}`;
        const volumes = await find().kubectl('get', 'volumes', '-o', `jsonpath=${path}`);
        const [volume = '', ip = ''] = volumes.split(' ');
        return ip === '' ? undefined : { volume, pod: await read('volume', volume, '{.status.podName}') };
      },
      SLOW_MS,
    );
    const uid = await read('pod', standby.pod, '{.metadata.uid}');
    const bo = await openConversation(find(), { subjectId: 'bo', agentId });
    expect(await bo.run('cat /etc/hostname')).toBe(standby.pod);
    await expect
      .poll(() => read('session', bo.name, '{.status.podName} {.status.podUid}'))
      .toBe(`${standby.pod} ${uid}`);
    await expect.poll(() => read('volume', standby.volume, '{.status.podName}')).toBe('');
  });

  test('files are served when no session is left, from the same volume', async () => {
    const { client } = find();
    const cy = await openConversation(find(), { subjectId: 'cy' });
    await cy.run('echo kept > note');
    const volume = await volumeOf(cy);
    await client.deleteSession(cy.id);
    await waitFor(
      'the pod is gone',
      async () =>
        await find()
          .kubectl('get', 'pods', '--no-headers', '-o', 'name')
          .then((names) => !names.includes(cy.name)),
      SLOW_MS,
    );
    const content = await waitFor(
      'the file',
      () => client.readFile(cy.agentId, 'cy', { path: 'note' }).catch(() => undefined),
      SLOW_MS,
    );
    expect(content).toMatchObject({ content: 'kept\n' });
    await client.writeFile(cy.agentId, 'cy', { path: 'late', content: 'late' }, {});
    const { data } = await client.listFiles(cy.agentId, 'cy');
    expect(data.map(({ name }) => name).toSorted()).toEqual(['late', 'note']);
    expect(await read('volume', volume, '{.status.podName}')).not.toBe('');
    await expect(find().kubectl('get', 'session', cy.name)).rejects.toThrow('NotFound');
  });

  test('a volume that fills up grows under a running pod', async () => {
    const dee = await openConversation(find(), { subjectId: 'dee' });
    const size = 'df --output=size --block-size=1M /workspace | tail -1';
    const before = Number(await dee.run(size));
    expect(before).toBeGreaterThan(400);
    expect(before).toBeLessThan(512);
    const uid = await read('pod', dee.name, '{.metadata.uid}');
    await dee.run('head -c 415M /dev/zero > big; ls');
    const volume = await volumeOf(dee);
    // The usage of a volume is polled twice a minute; the session stays in use meanwhile.
    const hasGrown = async (): Promise<boolean> => {
      await dee.run('sleep 2');
      return (await columns('volumes', volume))[4] === '1Gi';
    };
    await waitFor('the volume has 1 GiB', hasGrown, SLOW_MS);
    expect((await columns('volumes', volume)).slice(3, 5)).toEqual(['Ready', '1Gi']);
    expect(await read('pvc', volume, '{.status.capacity.storage}')).toBe('1Gi');
    expect(Number(await dee.run(size))).toBeGreaterThan(900);
    expect(await dee.run('head -c 300M /dev/zero > more && echo fits; rm more')).toBe('fits');
    expect(await read('pod', dee.name, '{.metadata.uid}')).toBe(uid);
  });

  test('a session out of use is suspended, and resumes with its files', async () => {
    await waitFor(
      'ada is suspended',
      async () => (await columns('sessions', ada.name)).slice(3, 5).join() === 'Suspended,Idle',
      IDLE_SECONDS * 1000 + SLOW_MS,
    );
    await expect(find().kubectl('get', 'pod', ada.name)).rejects.toThrow('NotFound');
    expect(await ada.run('cat made')).toBe('made in a pod');
    expect(await read('pod', ada.name, '{.metadata.uid}')).not.toBe(lastPodUid);
    await expect.poll(async () => (await columns('sessions', ada.name))[3], { timeout: 5000 }).toBe('Running');
  });
}
