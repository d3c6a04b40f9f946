import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { CHART, IMAGES, findHelm, renderChart, runHelm } from '../support/cluster/chart.ts';

const EXTERNAL = [
  'postgresql.bundled=false,postgresql.url=postgres://db/x',
  'nats.bundled=false,nats.url=nats://n',
  'redis.bundled=false,redis.url=redis://r',
  's3.bundled=false,s3.url=s3://bucket',
  'keys.existingSecret=mine',
].join(',');
const MEDIA = 'video.enabled=true,login.enabled=true,video.image=m:1,login.image=m:1';

type Variable = { name: string; value?: string; valueFrom?: { secretKeyRef: { name: string; key: string } } };
type Manifest = {
  kind: string;
  metadata: { name: string; namespace?: string; labels: Record<string, string>; annotations?: Record<string, string> };
  stringData?: Record<string, string>;
  spec: {
    selector: { matchLabels: Record<string, string> };
    template: {
      metadata: { labels: Record<string, string>; annotations?: Record<string, string> };
      spec: {
        affinity?: object;
        topologySpreadConstraints: { topologyKey: string }[];
        containers: [{ env: Variable[]; envFrom?: { secretRef: { name: string } }[] }];
      };
    };
  };
};

const render = async (...sets: string[]): Promise<Manifest[]> =>
  parseAllDocuments(await renderChart('space', IMAGES, ...sets)).map((document) => document.toJS() as Manifest);

/** The Deployments by role. */
async function renderRoles(...sets: string[]): Promise<Map<string, Manifest>> {
  const deployments = (await render(...sets)).filter(({ kind }) => kind === 'Deployment');
  return new Map(deployments.map((found) => [found.metadata.labels['app.kubernetes.io/component'] ?? '', found]));
}

const podOf = (roles: Map<string, Manifest>, role: string) => {
  const found = roles.get(role);
  if (!found) throw new Error(`no Deployment of ${role}`);
  return found.spec.template;
};

describe.skipIf(findHelm() === undefined)('the chart, rendered by helm', () => {
  test('two renderings are equal when nothing is bundled', async () => {
    const first = await renderChart('space', IMAGES, EXTERNAL);
    expect(await renderChart('space', IMAGES, EXTERNAL)).toBe(first);
    expect(first).not.toContain('PASSWORD');
  });

  test('a role knows the address that callers use: its own setting, else the host of its ingress', async () => {
    const read = async (...sets: string[]) =>
      podOf(await renderRoles(MEDIA, ...sets), 'video').spec.containers[0].env.filter(
        ({ name }) => name === 'CAPSTAN_PUBLIC_URL',
      );
    const named = (value: string) => [{ name: 'CAPSTAN_PUBLIC_URL', value }];
    const ingress = 'video.ingress.enabled=true,video.ingress.host=video.test';
    expect(await read()).toEqual([]);
    expect(await read(ingress)).toEqual(named('http://video.test'));
    expect(await read(ingress, 'video.ingress.tlsSecret=tls')).toEqual(named('https://video.test'));
    expect(await read(ingress, 'settings.CAPSTAN_PUBLIC_URL=https://a.test')).toEqual(named('https://a.test'));
    expect(await read(ingress, 'video.publicUrl=https://b.test/v')).toEqual(named('https://b.test/v'));
  });

  test('two renderings are equal when the passwords of bundled backends come from a Secret', async () => {
    const sets = [IMAGES, 'keys.existingSecret=mine,bundledBackends.existingSecret=theirs'];
    expect(await renderChart('space', ...sets)).toBe(await renderChart('space', ...sets));
    const { env } = podOf(await renderRoles(sets[1] ?? ''), 'api').spec.containers[0];
    const names = env.map(({ name }) => name);
    // Kubernetes expands only variables that are defined earlier.
    expect(names.indexOf('POSTGRES_PASSWORD')).toBeLessThan(names.indexOf('DATABASE_URL'));
    expect(env).toContainEqual({
      name: 'POSTGRES_PASSWORD',
      valueFrom: { secretKeyRef: { name: 'theirs', key: 'POSTGRES_PASSWORD' } },
    });
    expect(env).toContainEqual({
      name: 'DATABASE_URL',
      value: 'postgres://capstan:$(POSTGRES_PASSWORD)@demo-capstan-postgresql:5432/capstan',
    });
    expect(new Set(names).size).toBe(names.length);
  });

  test('a new address restarts pods, a new chart version does not', async () => {
    const pods = async (...sets: string[]) => JSON.stringify(podOf(await renderRoles(EXTERNAL, ...sets), 'worker'));
    const before = await pods();
    expect(await pods('s3.url=s3://other')).not.toBe(before);
    expect(await pods('providerKeysSecret=keys')).not.toBe(before);
    expect(await pods('networkPolicies.enabled=false')).toBe(before);
    for (const { spec } of (await renderRoles(MEDIA)).values()) {
      expect(Object.keys(spec.template.metadata.labels)).not.toContain('helm.sh/chart');
    }
  });

  test('provider keys go to the roles that use them', async () => {
    const read = async (...sets: string[]) => {
      const roles = await renderRoles(MEDIA, 'providerKeysSecret=keys', ...sets);
      return [...roles.entries()]
        .map(([role, { spec }]) => {
          const [{ env, envFrom = [] }] = spec.template.spec.containers;
          const some = env.filter(({ valueFrom }) => valueFrom?.secretKeyRef.name === 'keys').map(({ name }) => name);
          return [role, ...envFrom.map(() => 'all'), ...some].join(' ');
        })
        .sort();
    };
    expect(await read()).toEqual(['api', 'gateway all', 'login', 'operator', 'video', 'worker all']);
    expect(await read('config.login.fallbackModel=a/b,config.video.engines.x.apiKeyEnv=VIDEO_KEY')).toEqual([
      'api',
      'gateway all',
      'login all',
      'operator',
      'video VIDEO_KEY',
      'worker all',
    ]);
  });

  test('every role takes annotations, labels, affinity and its own spread', async () => {
    const names = ['api', 'worker', 'gateway', 'video', 'login', 'operator'];
    const sets = names.map((role) =>
      [
        `${role}.podAnnotations.team=ops`,
        `${role}.podLabels.team=ops`,
        `${role}.podLabels.app\\.kubernetes\\.io/name=other`,
        `${role}.affinity.nodeAffinity.x=y`,
        `${role}.topologySpreadConstraints[0].topologyKey=zone`,
      ].join(','),
    );
    const roles = await renderRoles(MEDIA, ...sets);
    for (const role of names) {
      const { metadata, spec } = podOf(roles, role);
      expect([role, metadata.annotations?.['team'], metadata.labels['team']]).toEqual([role, 'ops', 'ops']);
      // Labels that select the pods are immutable.
      expect(metadata.labels).toMatchObject(roles.get(role)?.spec.selector.matchLabels ?? {});
      expect(metadata.labels['app.kubernetes.io/name']).toBe('capstan');
      expect(spec.affinity).toEqual({ nodeAffinity: { x: 'y' } });
      expect(spec.topologySpreadConstraints.map(({ topologyKey }) => topologyKey)).toEqual(['zone']);
    }
  });

  test('names follow nameOverride and fullnameOverride', async () => {
    const nameOf = async (...sets: string[]) => (await renderRoles(...sets)).get('api')?.metadata;
    expect((await nameOf())?.name).toBe('demo-capstan-api');
    expect(await nameOf('nameOverride=agents')).toMatchObject({
      name: 'demo-agents-api',
      labels: { 'app.kubernetes.io/name': 'agents' },
    });
    expect((await nameOf('fullnameOverride=platform'))?.name).toBe('platform-api');
    const text = await renderChart('space', IMAGES, MEDIA, 'nameOverride=agents,fullnameOverride=platform');
    expect(text).not.toMatch(/app\.kubernetes\.io\/name: "?capstan|demo-capstan/);
  });

  test('every role has a policy that closes all ports but its own', async () => {
    const named = async (...sets: string[]) =>
      (await render(MEDIA, ...sets))
        .filter(({ kind }) => kind === 'NetworkPolicy')
        .map(({ metadata }) => metadata.name)
        .filter((name) => !/sandbox/.test(name))
        .sort();
    const roles = ['api', 'gateway', 'login', 'operator', 'video', 'worker'];
    const backends = ['nats', 'postgresql', 'redis', 's3'];
    expect(await named()).toEqual([...roles, ...backends].map((role) => `demo-capstan-${role}`).sort());
    expect(await named('networkPolicies.enabled=false')).toEqual([]);
  });

  test('what a role may reach is named: DNS, its backends, the API server, sandboxes, the internet', async () => {
    type Rule = { ports?: { port: number }[]; to?: { ipBlock?: { cidr: string }; podSelector?: object }[] };
    const read = async (...sets: string[]) => {
      const policies = (await render(MEDIA, ...sets)).filter(({ kind }) => kind === 'NetworkPolicy');
      const find = (role: string) => {
        const { spec } = policies.find(({ metadata }) => metadata.name === `demo-capstan-${role}`) ?? {};
        return spec as unknown as { policyTypes: string[]; egress: Rule[] } | undefined;
      };
      const describeRule = ({ ports, to }: Rule): string => {
        const blocks = to?.map(({ ipBlock }) => ipBlock?.cidr ?? 'pods').join('|') ?? 'any';
        return `${blocks} ${[...new Set(ports?.map(({ port }) => port))].join(',')}`.trim();
      };
      const roles = ['api', 'worker', 'gateway', 'video', 'login', 'operator'];
      expect(roles.map((role) => find(role)?.policyTypes)).toEqual(roles.map(() => ['Ingress', 'Egress']));
      return Object.fromEntries(roles.map((role) => [role, find(role)?.egress.map(describeRule)]));
    };
    const [dns, backends] = ['any 53,5353', 'pods 4222,5432,6379,7070'];
    const [kubernetes, sandboxes] = ['any 443,6443,8443,16443', 'pods 8090'];
    const internet = '0.0.0.0/0|2000::/3';
    expect(await read()).toEqual({
      api: [dns, backends, kubernetes, sandboxes, internet],
      worker: [dns, backends, kubernetes, sandboxes, internet],
      gateway: [dns, backends, internet],
      video: [dns, backends, internet],
      login: ['pods 53', internet, backends],
      operator: [dns, kubernetes, sandboxes],
    });
    const closed = await read(
      EXTERNAL,
      'networkPolicies.egress.internet=false,nats.url=nats://a:4223\\,b:4224',
      's3.url=s3://bucket?endpoint=http%3A%2F%2Fstore:9000',
      'networkPolicies.egress.postgresql.to[0].ipBlock.cidr=10.1.2.3/32',
      'networkPolicies.egress.allow[0].to[0].ipBlock.cidr=fd00::/8',
    );
    const own = ['any 4222,4223,4224', '10.1.2.3/32 5432', 'any 6379', 'any 443,9000'];
    expect(closed['gateway']).toEqual([dns, ...own, 'fd00::/8']);
    // A browser is let to none of them by its port alone.
    expect(closed['login']).toEqual(['pods 53', internet, '10.1.2.3/32 5432']);
  });

  test('sandboxes have a namespace of their own, unless one is named', async () => {
    const find = async (...sets: string[]) => {
      const all = await render(...sets);
      const [namespace, ...others] = all.filter(({ kind }) => kind === 'Namespace');
      expect(others).toEqual([]);
      const rights = all.filter(({ kind, metadata }) => kind === 'Role' && /-(api|operator)$/.test(metadata.name));
      const policies = all.filter(({ kind, metadata }) => kind === 'NetworkPolicy' && /sandbox/.test(metadata.name));
      const used = [...rights, ...policies].map(({ metadata }) => metadata.namespace);
      return { namespace: namespace?.metadata, used: [...new Set(used)] };
    };
    const created = await find();
    expect(created).toMatchObject({
      namespace: {
        name: 'demo-capstan-sandboxes',
        labels: { 'pod-security.kubernetes.io/enforce': 'restricted' },
        annotations: { 'helm.sh/resource-policy': 'keep' },
      },
      used: ['demo-capstan-sandboxes'],
    });
    expect(await find('sandbox.namespace=mine')).toEqual({ namespace: undefined, used: ['mine'] });
    expect(await find('sandbox.namespace=space')).toEqual({ namespace: undefined, used: ['space'] });
  });

  test('the roles of the cluster get rights, unless that is turned off', async () => {
    const labelsOf = async (...sets: string[]) =>
      (await render(...sets))
        .filter(({ kind }) => kind === 'ClusterRole')
        .map(({ metadata }) => Object.keys(metadata.labels).filter((name) => name.includes('aggregate-to')).length);
    expect(await labelsOf()).toEqual([3, 2, 1]);
    expect(await labelsOf('aggregatedRoles.enabled=false')).toEqual([]);
  });

  test('workers scale by their sessions, by the cluster or by KEDA', async () => {
    const scaled = 'worker.autoscaling.enabled=true,worker.autoscaling.targetSessions=40';
    const find = async (...sets: string[]) => {
      const all = await render(scaled, ...sets);
      return all.filter(({ kind }) => /^(HorizontalPodAutoscaler|ScaledObject)$/.test(kind));
    };
    const [hpa, ...others] = await find();
    expect([others, hpa?.kind]).toEqual([[], 'HorizontalPodAutoscaler']);
    expect(hpa?.spec).toMatchObject({
      behavior: { scaleDown: { stabilizationWindowSeconds: 300 } },
      metrics: [{ type: 'Resource' }, { type: 'Pods', pods: { target: { averageValue: '40' } } }],
    });
    const keda = 'worker.autoscaling.keda.enabled=true';
    await expect(find(keda)).rejects.toThrow('name the address of Prometheus');
    const [object, ...rest] = await find(keda, 'worker.autoscaling.keda.serverAddress=http://prometheus:9090');
    expect([rest, object?.kind]).toEqual([[], 'ScaledObject']);
    expect(object?.spec).toMatchObject({
      triggers: [{ type: 'cpu' }, { type: 'prometheus', metadata: { threshold: '40' } }],
    });
  });

  test('a role is reached through a route of the Gateway API', async () => {
    const find = async (...sets: string[]) => (await render(...sets)).filter(({ kind }) => kind === 'HTTPRoute');
    expect(await find()).toEqual([]);
    await expect(find('api.httpRoute.enabled=true')).rejects.toThrow('name the Gateway');
    const [route] = await find(
      'api.httpRoute.enabled=true,api.httpRoute.parentRefs[0].name=public,api.httpRoute.hostnames={a.test}',
    );
    expect(route?.spec).toMatchObject({
      parentRefs: [{ name: 'public' }],
      hostnames: ['a.test'],
      rules: [{ backendRefs: [{ name: 'demo-capstan-api', port: 80 }] }],
    });
  });

  test('with values-small.yaml everything requests less than one processor', async () => {
    const path = `${CHART}/values-small.yaml`;
    const text = await runHelm(['template', 'demo', CHART, '-f', path, '--set', `${IMAGES},${MEDIA}`]);
    const manifests = parseAllDocuments(text).map(
      (document) =>
        document.toJS() as {
          spec?: {
            replicas?: number;
            template?: { spec: { containers: { resources: { requests: { cpu: string } } }[] } };
          };
        },
    );
    const millis = manifests.map(({ spec }) => {
      const [container] = spec?.template?.spec.containers ?? [];
      return container ? Number.parseInt(container.resources.requests.cpu, 10) * (spec?.replicas ?? 1) : 0;
    });
    expect(millis.reduce((sum, value) => sum + value, 0)).toBeLessThan(1000);
  });
});
