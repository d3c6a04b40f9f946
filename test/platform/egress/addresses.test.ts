import { describe, expect, it } from 'vitest';
import { isPublic, parseAddress } from '../../../src/platform/egress/addresses.ts';
import { buildAllowList } from '../../../src/platform/egress/allow.ts';
import { StartupError } from '../../../src/platform/errors.ts';

const judge = (text: string) => {
  const address = parseAddress(text);
  return address === undefined ? 'no address' : isPublic(address);
};

describe('an address counts as public', () => {
  it.each([
    '1.1.1.1',
    '93.184.216.34',
    '2606:4700:4700::1111',
    '::ffff:8.8.8.8',
    '64:ff9b::808:808',
    '2002:808:808::1',
  ])('when it is %s', (text) => expect(judge(text)).toBe(true));

  it.each([
    '127.0.0.1',
    '127.255.255.254',
    '0.0.0.0',
    '0.1.2.3',
    '10.0.0.1',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '100.64.0.1',
    '100.100.100.200',
    '169.254.169.254',
    '168.63.129.16',
    '192.0.0.192',
    '192.0.2.1',
    '198.18.0.1',
    '198.51.100.7',
    '203.0.113.7',
    '192.88.99.1',
    '224.0.0.1',
    '239.255.255.250',
    '240.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    'fe80::1',
    'fe80::1%eth0',
    'fc00::1',
    'fd00:ec2::254',
    'fec0::1',
    'ff02::1',
    '2001:db8::1',
    '3fff::1',
    '100::1',
    '2001::1',
    '::127.0.0.1',
    '::ffff:127.0.0.1',
    '::ffff:10.0.0.1',
    '::ffff:a9fe:a9fe',
    '::ffff:0:8.8.8.8',
    '64:ff9b::7f00:1',
    '64:ff9b::a9fe:a9fe',
    '64:ff9b:1::808:808',
    '2002:7f00:1::',
    '2002:c0a8:101::1',
    '4000::1',
    '5f00::1',
  ])('but not when it is %s', (text) => expect(judge(text)).toBe(false));
});

describe('an allow list', () => {
  const allows = (entries: string[], host: string, port: number, text: string) => {
    const address = parseAddress(text);
    return address !== undefined && buildAllowList(entries)(host, port, address);
  };

  it('opens CIDRs and single addresses, whatever the port, in each form of the address', () => {
    expect(allows(['10.0.0.0/8'], 'x', 1, '10.9.8.7')).toBe(true);
    expect(allows(['10.0.0.0/8'], 'x', 1, '11.0.0.1')).toBe(false);
    expect(allows(['10.0.0.0/8'], 'x', 1, '::ffff:10.9.8.7')).toBe(true);
    expect(allows(['10.0.0.0/8'], 'x', 1, '64:ff9b::a09:807')).toBe(true);
    expect(allows(['fd00::/8'], 'x', 1, 'fd12::1')).toBe(true);
    expect(allows(['fd00::/8'], 'x', 1, '10.0.0.1')).toBe(false);
    expect(allows(['127.0.0.1'], 'x', 1, '127.0.0.1')).toBe(true);
    expect(allows(['127.0.0.1'], 'x', 1, '127.0.0.2')).toBe(false);
  });

  it('opens a host and port, by name or by address', () => {
    expect(allows(['Tools.Internal:8080'], 'tools.internal', 8080, '10.0.0.1')).toBe(true);
    expect(allows(['tools.internal:8080'], 'tools.internal', 8081, '10.0.0.1')).toBe(false);
    expect(allows(['tools.internal:8080'], 'other.internal', 8080, '10.0.0.1')).toBe(false);
    expect(allows(['127.0.0.1:80'], 'localhost', 80, '127.0.0.1')).toBe(true);
    expect(allows(['127.0.0.1:80'], '127.0.0.1', 81, '127.0.0.1')).toBe(false);
    expect(allows(['[::1]:8080'], '::1', 8080, '::1')).toBe(true);
  });

  it.each(['', 'name', '10.0.0.0/33', 'a:b', 'host:0', 'host:70000', 'user@host:1', 'http://host:1', 'a/b:1'])(
    'refuses the entry "%s" at start',
    (entry) => expect(() => buildAllowList([entry])).toThrow(StartupError),
  );
});
