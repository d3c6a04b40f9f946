import type { Installation } from './installation.ts';

export type Place = [host: string, port: string];

/** Says `open` or `shut` for each place, from a pod of the control plane, which has Node alone. */
export async function probeFrom(
  { kubectl, namespace }: Installation,
  deployment: string,
  places: readonly Place[],
): Promise<string[]> {
  const script = `const probe = ([host, port]) => new Promise((resolve) => {
      const socket = require('node:net').connect({ host, port: Number(port) });
      const tell = (state) => { resolve(state); socket.destroy(); };
      socket.on('connect', () => tell('open')).on('error', () => tell('shut'));
      setTimeout(() => tell('shut'), 8000).unref();
    });
    Promise.all(${JSON.stringify(places)}.map(probe)).then((states) => console.log(states.join('\\n')));`;
  const out = await kubectl('-n', namespace, 'exec', `deployment/capstan-${deployment}`, '--', 'node', '-e', script);
  return out.trim().split('\n');
}

/** The API server by its Service and by its own address, and the kubelet beside it. */
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
