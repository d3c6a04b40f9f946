import ipaddr from 'ipaddr.js';
import type { IPv4, IPv6 } from 'ipaddr.js';

export type Address = IPv4 | IPv6;

/** Answers inside a public cloud's machine to questions about the machine, from an address that looks public. */
const METADATA = ['168.63.129.16'];

const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');
const NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');
const MAPPED = ipaddr.IPv6.parseCIDR('::ffff:0:0/96');
const SIX_TO_FOUR = ipaddr.IPv6.parseCIDR('2002::/16');

/** An address as text, without brackets and zone; an IPv4 address inside of `::ffff:0:0/96` is that IPv4 address. */
export function parseAddress(text: string): Address | undefined {
  const bare = text.replace(/^\[(.*)\]$/, '$1').replace(/%[^]*$/, '');
  if (ipaddr.IPv4.isValidFourPartDecimal(bare)) return ipaddr.IPv4.parse(bare);
  if (!ipaddr.IPv6.isValid(bare)) return undefined;
  const address = ipaddr.IPv6.parse(bare);
  return address.match(MAPPED) ? readIPv4(address, 12) : address;
}

function readIPv4(address: IPv6, offset: number): IPv4 {
  return new ipaddr.IPv4(address.toByteArray().slice(offset, offset + 4));
}

/** The IPv4 address that a translator or tunnel would send to, for addresses that stand for one. */
export function findEmbedded(address: Address): IPv4 | undefined {
  if (address.kind() === 'ipv4') return undefined;
  const six = address as IPv6;
  if (six.match(NAT64)) return readIPv4(six, 12);
  if (six.match(SIX_TO_FOUR)) return readIPv4(six, 2);
  return undefined;
}

/**
 * Whether an address belongs to the public internet. Private, shared, loopback, link-local, multicast, reserved,
 * documentation, metadata and unspecified ones do not, nor what embeds one of them.
 */
export function isPublic(address: Address): boolean {
  if (address.kind() === 'ipv4') {
    return address.range() === 'unicast' && !METADATA.includes(address.toString());
  }
  const embedded = findEmbedded(address);
  if (embedded !== undefined) return isPublic(embedded);
  const six = address as IPv6;
  return six.match(GLOBAL_UNICAST) && six.range() === 'unicast';
}
