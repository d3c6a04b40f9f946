import { Agent } from 'node:http';
import type { RequestOptions } from 'node:https';
import { KubeConfig } from '@kubernetes/client-node';
import { StartupError, errorText } from '../errors.ts';
import type { Credentials } from './credentials.ts';

/** Reads the current context, with any kind of authentication; without a path, from kubectl's default locations. */
export function openKubeconfig(path: string | undefined): Credentials {
  const config = new KubeConfig();
  try {
    if (path === undefined) config.loadFromDefault();
    else config.loadFromFile(path);
  } catch (error) {
    throw new StartupError(`Kubernetes cannot be reached: ${errorText(error)}`);
  }
  const cluster = config.getCurrentCluster();
  if (cluster === null) throw new StartupError('Kubernetes cannot be reached: the kubeconfig names no cluster.');
  return {
    server: cluster.server,
    namespace: config.getContextObject(config.getCurrentContext())?.namespace,
    async read() {
      const options: RequestOptions = {};
      await config.applyToHTTPSOptions(options);
      const { ca, cert, key, pfx, passphrase, rejectUnauthorized, servername, auth, agent } = options;
      const all = { ca, cert, key, pfx, passphrase, rejectUnauthorized, servername };
      const tls = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
      const basic: Record<string, string> =
        typeof auth !== 'string' ? {} : { authorization: `Basic ${Buffer.from(auth).toString('base64')}` };
      const headers = { ...(options.headers as Record<string, string>), ...basic };
      const isDirect = cluster.proxyUrl === undefined || !(agent instanceof Agent);
      return { headers, tls, ...(isDirect ? {} : { agent }) };
    },
  };
}
