import ipaddr from 'ipaddr.js';
import { StartupError } from '../errors.ts';
import { findEmbedded, parseAddress } from './addresses.ts';
import type { Address } from './addresses.ts';

/** Whether the operator has opened an address for the host and port that a request names. */
export type AllowList = (host: string, port: number, address: Address) => boolean;

type Rule = (host: string, port: number, address: Address) => boolean;

/** CIDRs, single addresses and `host:port`. Throws a `StartupError` that names the entry that is none of them. */
export function buildAllowList(entries: readonly string[]): AllowList {
  const rules = entries.map(parseRule);
  return (host, port, address) => {
    const embedded = findEmbedded(address);
    const forms = embedded === undefined ? [address] : [address, embedded];
    return forms.some((form) => rules.some((rule) => rule(host, port, form)));
  };
}

function parseRule(entry: string): Rule {
  const range = parseRange(entry);
  if (range !== undefined) {
    const [network, bits] = range;
    return (_host, _port, address) => address.kind() === network.kind() && address.match([network, bits] as never);
  }
  const target = /^(.+):(\d{1,5})$/.exec(entry);
  const port = Number(target?.[2]);
  const host = canonicalHost(target?.[1] ?? '');
  if (host === undefined || port < 1 || port > 65_535) {
    throw new StartupError(
      `Bad setting: CAPSTAN_EGRESS_ALLOW: "${entry}" is neither a CIDR nor an address nor host:port.`,
    );
  }
  const literal = parseAddress(host);
  if (literal === undefined) return (asked, askedPort) => asked === host && askedPort === port;
  const text = literal.toString();
  return (_host, askedPort, address) => askedPort === port && address.toString() === text;
}

function parseRange(entry: string): [Address, number] | undefined {
  if (ipaddr.isValidCIDR(entry)) return ipaddr.parseCIDR(entry);
  const single = parseAddress(entry);
  return single === undefined ? undefined : [single, single.kind() === 'ipv4' ? 32 : 128];
}

/** A host as the URL standard writes it: lower case, encoded IPv4 forms resolved. Without a final dot. */
function canonicalHost(host: string): string | undefined {
  const url = URL.parse(`http://${host}/`);
  if (url === null || url.host !== url.hostname || url.username !== '' || url.pathname !== '/') return undefined;
  return trimHost(url.hostname);
}

export function trimHost(hostname: string): string {
  return hostname.replace(/\.$/, '');
}
