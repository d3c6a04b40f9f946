import { existsSync, readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CliError } from './cli-error.ts';

export type Connection = { baseUrl: string; apiKey: string };
export type Environment = Record<string, string | undefined>;

const CHECKOUT = fileURLToPath(new URL('../..', import.meta.url));

function findUrl(env: Environment): string {
  const host = env['CAPSTAN_HOST'] || '127.0.0.1';
  // A server that listens everywhere is reached here.
  const reachable = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  const url =
    env['CAPSTAN_URL'] ||
    `http://${isIP(reachable) === 6 ? `[${reachable}]` : reachable}:${env['CAPSTAN_PORT'] || '8080'}`;
  const parsed = URL.parse(url);
  if (parsed === null || !/^https?:$/.test(parsed.protocol))
    throw new CliError(`CAPSTAN_URL is no http address: ${url}`);
  return url;
}

function isLoopback(url: string): boolean {
  const { hostname } = new URL(url);
  return hostname === 'localhost' || hostname === '[::1]' || (isIP(hostname) === 4 && hostname.startsWith('127.'));
}

/** The key that the local server keeps in its data folder: of this folder, else of the checkout. */
function readKeyFile(env: Environment): string | undefined {
  const folders = env['CAPSTAN_DATA_DIR']
    ? [resolve(env['CAPSTAN_DATA_DIR'])]
    : [resolve('data'), join(CHECKOUT, 'data')];
  const file = folders.map((folder) => join(folder, 'api-key')).find((path) => existsSync(path));
  return file === undefined ? undefined : readFileSync(file, 'utf8').trim();
}

/** Which server to talk to, and as whom. A key found on this machine is never sent to another one. */
export function findConnection(env: Environment): Connection {
  const baseUrl = findUrl(env);
  const apiKey = env['CAPSTAN_API_KEY'] || (isLoopback(baseUrl) ? readKeyFile(env) : undefined);
  if (apiKey === undefined) {
    throw new CliError('No API key: set CAPSTAN_API_KEY, or start a server here, which keeps its key in data/api-key.');
  }
  return { baseUrl, apiKey };
}
