import { fileURLToPath } from 'node:url';
import { waitFor } from '../cluster.ts';
import type { Installation } from './installation.ts';
import { SITE, SITE_PORTS } from './site-address.ts';

const SLOW_MS = 120_000;
const SOURCES = ['forms.ts', 'server.ts'];

const pathOf = (name: string): string => fileURLToPath(new URL(`../../login-sites/${name}`, import.meta.url));

/** The test sites with a login, in a pod of the release's namespace. `url` is for pods, `outside` for this machine. */
export async function startSiteInCluster(installation: Installation): Promise<{ url: string; outside: string }> {
  const { kubectl, namespace, image, node } = installation;
  const script = `import { FORM_SITES } from '/app/test/support/login-sites/forms.ts';
    import { startLoginSites } from '/app/test/support/login-sites/server.ts';
    for (const port of [${SITE_PORTS.other}, ${SITE_PORTS.site}]) await startLoginSites(FORM_SITES, { host: '0.0.0.0', port });`;
  const port = { containerPort: SITE_PORTS.site };
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: SITE, namespace, labels: { app: SITE } },
    spec: {
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      terminationGracePeriodSeconds: 0,
      containers: [
        {
          name: 'site',
          image,
          imagePullPolicy: 'IfNotPresent',
          command: ['node', '--input-type=module', '--eval', script],
          ports: [port],
          readinessProbe: { tcpSocket: { port: SITE_PORTS.site }, periodSeconds: 1 },
          // Beside the sources that they import from, each mounted alone: in a folder they would be links to other
          // places.
          volumeMounts: SOURCES.map((name) => ({
            name: 'sources',
            mountPath: `/app/test/support/login-sites/${name}`,
            subPath: name,
          })),
        },
      ],
      volumes: [{ name: 'sources', configMap: { name: SITE } }],
    },
  };
  const service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: SITE, namespace },
    spec: { type: 'NodePort', selector: { app: SITE }, ports: [{ port: 80, targetPort: SITE_PORTS.site }] },
  };
  await kubectl('-n', namespace, 'create', 'configmap', SITE, ...SOURCES.map((name) => `--from-file=${pathOf(name)}`));
  await installation.apply(pod, service);
  await waitFor(
    'the site is ready',
    async () => (await kubectl('-n', namespace, 'get', 'pod', SITE, '--no-headers')).includes('1/1'),
    SLOW_MS,
  );
  const nodePort = await kubectl('-n', namespace, 'get', 'service', SITE, '-o=jsonpath={.spec.ports[0].nodePort}');
  return { url: `http://${SITE}.${namespace}.svc.cluster.local`, outside: `http://${node}:${nodePort}` };
}
