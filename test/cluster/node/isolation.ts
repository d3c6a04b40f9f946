import { expect, test } from 'vitest';
import { waitFor } from '../../support/cluster/cluster.ts';
import { openConversation } from '../../support/cluster/node/conversation.ts';
import type { Installation } from '../../support/cluster/node/installation.ts';
import { findApiServer, probeFrom } from '../../support/cluster/node/probe.ts';

/** The metadata address of clouds. */
const METADATA = '169.254.169.254';
const SLOW_MS = 120_000;

/**
 * What a sandbox pod can reach and see, checked from inside. Each forbidden address is also reached from an allowed
 * place in the same test, which proves that the policy blocks it and that the address works.
 */
export function testIsolation(find: () => Installation): void {
  /** Prints `open` or `shut` for each `host port`, in any environment with bash. */
  const buildProbe = (places: [string, string][]): string =>
    places
      .map(
        ([host, port]) => `(timeout 4 bash -c 'echo > /dev/tcp/${host}/${port}' 2>/dev/null && echo open || echo shut)`,
      )
      .join('; ');

  test('no database, bus, limits, objects or API of Capstan is reached, while DNS answers', async () => {
    const { namespace } = find();
    const eve = await openConversation(find(), { subjectId: 'eve' });
    const places: [string, string][] = [
      [`capstan-postgresql.${namespace}.svc.cluster.local`, '5432'],
      [`capstan-nats.${namespace}.svc.cluster.local`, '4222'],
      [`capstan-redis.${namespace}.svc.cluster.local`, '6379'],
      [`capstan-s3.${namespace}.svc.cluster.local`, '7070'],
    ];
    expect(await probeFrom(find(), 'api', places)).toEqual(places.map(() => 'open'));
    const names = places.map(([host]) => `getent hosts ${host} >/dev/null && echo found`).join('; ');
    expect((await eve.run(names)).split('\n')).toEqual(places.map(() => 'found'));
    expect((await eve.run(buildProbe(places))).split('\n')).toEqual(places.map(() => 'shut'));
    const api: [string, string] = [`capstan-api.${namespace}.svc.cluster.local`, '80'];
    expect((await fetch(`${find().url}/readyz`)).status).toBe(200);
    expect(await eve.run(buildProbe([api]))).toBe('shut');
    // Nor do the roles reach each other, and only those that talk to sandboxes reach the API of Kubernetes.
    const [kubernetes = ['', '']] = await findApiServer(find());
    expect(await probeFrom(find(), 'worker', [api, kubernetes])).toEqual(['shut', 'open']);
    expect(await probeFrom(find(), 'gateway', [api, kubernetes])).toEqual(['shut', 'shut']);
  });

  test('neither the API of Kubernetes nor the metadata address is reached, and there is no token', async () => {
    const { kubectl, namespace } = find();
    const eve = await openConversation(find(), { subjectId: 'eve' });
    const places = await findApiServer(find());
    expect((await probeFrom(find(), 'operator', places)).slice(0, 2)).toEqual(['open', 'open']);
    expect((await eve.run(buildProbe(places))).split('\n')).toEqual(['shut', 'shut', 'shut']);
    expect(await eve.run('ls -R /var/run/secrets /run/secrets 2>/dev/null | wc -l')).toBe('0');
    expect(await eve.run('env | grep -iE "kubernetes|pod_uid|key|token|secret|password" || echo none')).toBe('none');

    // A pod beside it without our labels, so no policy applies: there the address answers.
    const image = await kubectl('get', 'pod', eve.name, '-o', 'jsonpath={.spec.containers[0].image}');
    const options = [`--image=${image}`, '--image-pull-policy=IfNotPresent', '--restart=Never', '--command'];
    const command = ['bash', '-c', buildProbe([[METADATA, '80']])];
    await kubectl('-n', namespace, 'run', 'control', ...options, '--', ...command);
    const said = await waitFor(
      'the control pod',
      async () => {
        const phase = await kubectl('-n', namespace, 'get', 'pod', 'control', '-o', 'jsonpath={.status.phase}');
        return phase === 'Succeeded' ? (await kubectl('-n', namespace, 'logs', 'control')).trim() : undefined;
      },
      SLOW_MS,
    );
    await kubectl('-n', namespace, 'delete', 'pod', 'control', '--wait=false');
    expect(await eve.run(buildProbe([[METADATA, '80']]))).toBe('shut');
    // A user's own cluster may have none; `make cluster` simulates one.
    const isOurs = (process.env['CAPSTAN_TEST_KUBECONFIG'] ?? '') === '';
    expect(isOurs ? said : 'open').toBe('open');
  });

  test("neither another subject's pod nor its volume is reached", async () => {
    const { kubectl } = find();
    const eve = await openConversation(find(), { subjectId: 'eve' });
    const fay = await openConversation(find(), { subjectId: 'fay', agentId: eve.agentId });
    await fay.run('echo private > diary');
    const ip = await kubectl('get', 'pod', fay.name, '-o', 'jsonpath={.status.podIP}');
    expect(await probeFrom(find(), 'worker', [[ip, '8090']])).toEqual(['open']);
    expect(await eve.run(buildProbe([[ip, '8090']]))).toBe('shut');
    expect(await eve.run('ls -A /workspace')).not.toContain('diary');
    expect(await eve.run("grep -c ' /workspace ' /proc/self/mounts")).toBe('1');
    const devices = await eve.run(
      "grep -E '^/dev/' /proc/self/mounts | grep -vE ' (/workspace|/tmp|/etc/[a-z.]+|/dev/[a-z-]+) ' || echo none",
    );
    expect(devices).toBe('none');
    await expect(find().client.readFile(eve.agentId, 'eve', { path: 'diary' })).rejects.toThrow('No such file');
  });

  test('it has no privilege, and none to gain', async () => {
    const eve = await openConversation(find(), { subjectId: 'eve' });
    const status = await eve.run(
      "grep -E '^(CapEff|CapBnd|NoNewPrivs|Seccomp):' /proc/self/status | tr -d '\\t '; id -u",
    );
    const none = '0'.repeat(16);
    expect(status.split('\n')).toEqual([`CapEff:${none}`, `CapBnd:${none}`, 'NoNewPrivs:1', 'Seccomp:2', '1000']);
    // The kernel counts a user's processes over all pods of the node, so other pods would also exhaust a per-pod
    // limit.
    expect(await eve.run('[ "$(ulimit -u)" = "$(ulimit -Hu)" ] && echo none of its own')).toBe('none of its own');
    expect(
      await eve.run('for f in / /usr /etc /opt/capstan; do touch $f/x 2>/dev/null && echo wrote $f; done; echo done'),
    ).toBe('done');
    expect(
      await eve.run(
        'unshare -r true 2>/dev/null && echo can || echo cannot; mount -t tmpfs x /mnt 2>/dev/null && echo can || echo cannot',
      ),
    ).toMatch(/cannot$/);
  });
}
