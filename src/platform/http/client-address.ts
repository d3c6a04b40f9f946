import { isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';

const UNKNOWN = 'unknown';

/** The network that a peer counts as: an IPv4 address, or the /64 of an IPv6 address, which one customer has whole. */
export function clientNetwork(address: string | undefined): string {
  if (address === undefined) return UNKNOWN;
  const bare = address.split('%', 1)[0] ?? '';
  if (!isIPv6(bare)) return bare;
  const parsed = ipaddr.IPv6.parse(bare);
  if (parsed.isIPv4MappedAddress()) return parsed.toIPv4Address().toString();
  return parsed.parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':');
}

/** Whether an address or the name of a host, as in a URL, is this machine's own. */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, '').toLowerCase();
  if (bare === 'localhost') return true;
  return ipaddr.isValid(bare) && ipaddr.process(bare).range() === 'loopback';
}

/** Whether a text is an IP address or a CIDR. */
export function isNetwork(text: string): boolean {
  return ipaddr.isValid(text) || ipaddr.isValidCIDR(text);
}
