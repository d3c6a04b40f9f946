import { waitFor } from '../cluster.ts';
import type { Installation } from './installation.ts';

export type Place = [host: string, port: string];

const buildScript = (places: readonly Place[]): string => `const probe = ([host, port]) => new Promise((resolve) => {
      const socket = require('node:net').connect({ host, port: Number(port) });
      const tell = (state) => { resolve(state); socket.destroy(); };
      socket.on('connect', () => tell('open')).on('error', () => tell('shut'));
      setTimeout(() => tell('shut'), 8000).unref();
    });
    Promise.all(${JSON.stringify(places)}.map(probe)).then((states) => console.log(states.join('\\n')));`;

/** Says `open` or `shut` for each place, from a pod of the control plane, which has Node alone. */
export async function probeFrom(
  { kubectl, namespace }: Installation,
  deployment: string,
  places: readonly Place[],
): Promise<string[]> {
  const command = ['--', 'node', '-e', buildScript(places)];
  const out = await kubectl('-n', namespace, 'exec', `deployment/capstan-${deployment}`, ...command);
  return out.trim().split('\n');
}

/** The same from a pod that no policy is about. */
export async function probeFreely(
  { kubectl, namespace, image }: Installation,
  places: readonly Place[],
): Promise<string[]> {
  const pod = ['-n', namespace, 'pod', 'probe'];
  const options = [`--image=${image}`, '--image-pull-policy=IfNotPresent', '--restart=Never', '--command'];
  await kubectl('-n', namespace, 'run', 'probe', ...options, '--', 'node', '-e', buildScript(places));
  const isDone = async () => (await kubectl('get', ...pod, '-o', 'jsonpath={.status.phase}')) === 'Succeeded';
  await waitFor('the probe has ended', isDone, 120_000);
  const out = await kubectl('-n', namespace, 'logs', 'probe');
  await kubectl('delete', ...pod, '--wait=true');
  return out.trim().split('\n');
}

/** The API server by its Service and by its own address, and its kubelet. */
export async function findApiServer({ kubectl }: Installation): Promise<Place[]> {
  const address = await kubectl('-n', 'default', 'get', 'service/kubernetes', '-o', 'jsonpath={.spec.clusterIP}');
  const slices = 'get endpointslices -l kubernetes.io/service-name=kubernetes -o'.split(' ');
  const path = 'jsonpath={.items[0].endpoints[0].addresses[0]} {.items[0].ports[0].port}';
  const [endpoint = '', port = ''] = (await kubectl('-n', 'default', ...slices, path)).split(' ');
  return [
    [address, '443'],
    [endpoint, port],
    [endpoint, '10250'],
  ];
}
