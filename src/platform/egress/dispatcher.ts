import { lookup } from 'node:dns/promises';
import { Agent, buildConnector } from 'undici';
import { isPublic, parseAddress } from './addresses.ts';
import type { Address } from './addresses.ts';
import type { AllowList } from './allow.ts';
import { trimHost } from './allow.ts';
import { EgressError } from './error.ts';

/** All addresses of a host name. */
export type Resolve = (hostname: string) => Promise<string[]>;

export type Checked = { address: string; family: 4 | 6 };

/** Resolves a host and checks every address; throws an `EgressError`. One bad address among good ones is enough. */
export type CheckHost = (hostname: string, port: number) => Promise<Checked[]>;

const CONNECT_TIMEOUT_MS = 10_000;

export const resolveBySystem: Resolve = async (hostname) => {
  const found = await lookup(hostname, { all: true, order: 'verbatim' });
  return found.map(({ address }) => address);
};

export function buildCheck(allow: AllowList, resolve: Resolve): CheckHost {
  return async (hostname, port) => {
    const host = trimHost(hostname.toLowerCase());
    const literal = parseAddress(host);
    const addresses = literal === undefined ? await resolveHost(host, port, resolve) : [literal];
    for (const address of addresses) {
      if (isPublic(address) || allow(host, port, address)) continue;
      throw new EgressError(
        'refused',
        `${host}:${port} is not on the public internet, and CAPSTAN_EGRESS_ALLOW does not open it.`,
      );
    }
    return addresses.map((address) => ({
      address: address.toString(),
      family: address.kind() === 'ipv4' ? 4 : 6,
    }));
  };
}

async function resolveHost(host: string, port: number, resolve: Resolve): Promise<Address[]> {
  const texts = await resolve(host).catch((error: unknown) => {
    throw new EgressError('unreachable', `${host}:${port} could not be resolved.`, error);
  });
  const addresses = texts.map((text) => {
    const address = parseAddress(text);
    if (address === undefined) throw new EgressError('unreachable', `${host}:${port} could not be resolved.`);
    return address;
  });
  if (addresses.length === 0) throw new EgressError('unreachable', `${host}:${port} has no address.`);
  return addresses;
}

/** Connections to checked addresses only. The address that was checked is the one that is connected to. */
export function openDispatcher(check: CheckHost): Agent {
  const connect: buildConnector.connector = (options, callback) => {
    const port = Number(options.port) || (options.protocol === 'https:' ? 443 : 80);
    const dial = async () => {
      let checked: Checked[];
      try {
        checked = await check(options.hostname, port);
      } catch (error) {
        callback(error as Error, null);
        return;
      }
      buildConnector({
        timeout: CONNECT_TIMEOUT_MS,
        allowH2: false,
        autoSelectFamily: true,
        lookup: (_hostname, wanted, answer) => {
          const [first] = checked;
          if (wanted.all === true) answer(null, checked);
          else answer(null, first?.address ?? '', first?.family);
        },
      })(options, callback);
    };
    void dial();
  };
  return new Agent({ connect, keepAliveTimeout: 10_000, pipelining: 1 });
}
