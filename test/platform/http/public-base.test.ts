import { expect, test } from 'vitest';
import { findBase } from '../../../src/platform/http/public-base.ts';

const arrive = (host: string, localAddress: string) => ({
  protocol: 'http' as const,
  host,
  hostname: host.replace(/:\d+$/, ''),
  socket: { localAddress, localPort: 8080 },
});

test.each([
  ['evil.example', '10.0.0.7', 'http://10.0.0.7:8080'],
  ['evil.example:80', '::ffff:10.0.0.7', 'http://10.0.0.7:8080'],
  ['6.6.6.6:8080', '10.0.0.7', 'http://10.0.0.7:8080'],
  ['localhost.evil.example', '2001:db8::1', 'http://[2001:db8::1]:8080'],
  ['localhost:18080', '172.17.0.2', 'http://localhost:18080'],
  ['127.0.0.1:8080', '127.0.0.1', 'http://127.0.0.1:8080'],
  ['[::1]:8080', '::1', 'http://[::1]:8080'],
])('addresses for a request to the host %s at %s begin with %s', (host, localAddress, base) => {
  expect(findBase(arrive(host, localAddress), undefined)).toBe(base);
});

test('addresses begin with the configured address, whatever the host', () => {
  expect(findBase(arrive('evil.example', '10.0.0.7'), 'https://videos.example/')).toBe('https://videos.example');
});
