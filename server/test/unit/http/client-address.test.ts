import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { IncomingMessage } from 'node:http'
import { settings } from '../../../src/config/settings.ts'
import { clientAddressOf, networkOf } from '../../../src/http/client-address.ts'

const trusted = settings.UGS_TRUSTED_PROXIES.parse('10.0.0.0/8, 192.0.2.7,2001:db8:ff::/48')

function addressOf(remoteAddress: string | undefined, forwarded?: string): string {
  const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }
  return clientAddressOf({ socket: { remoteAddress }, headers } as unknown as IncomingMessage, trusted)
}

describe('the address of a client', () => {
  const cases: Record<string, [remote: string | undefined, forwarded: string | undefined, expected: string]> =
    {
      'is that of the connection': ['198.51.100.1', undefined, '198.51.100.1'],
      'is not what an untrusted client claims': ['198.51.100.1', '203.0.113.9', '198.51.100.1'],
      'is what a trusted proxy reports': ['10.1.2.3', '203.0.113.9', '203.0.113.9'],
      'is the rightmost one that is not a proxy': [
        '10.1.2.3',
        '1.1.1.1, 203.0.113.9,192.0.2.7',
        '203.0.113.9',
      ],
      'is that of the first proxy if all are trusted': ['10.1.2.3', '10.0.0.1, 10.0.0.2', '10.0.0.1'],
      'is that of the proxy if it reports nothing': ['10.1.2.3', undefined, '10.1.2.3'],
      'is that of the proxy if it reports no address': ['10.1.2.3', '203.0.113.9, unknown', '10.1.2.3'],
      'has no port': ['10.1.2.3', '203.0.113.9:4711', '203.0.113.9'],
      'of IPv6 has no port': ['10.1.2.3', '[2001:db8::1]:4711', '2001:db8::1'],
      'of IPv6 is in its canonical form': ['10.1.2.3', '2001:0DB8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
      'has no zone': ['10.1.2.3', 'fe80::1%a:b:c:d:e:f:g:h:i', 'fe80::1'],
      'may have a zone that is longer than an address': [
        '10.1.2.3',
        `0000:0000:0000:0000:0000:0001:255.255.255.255%${'a'.repeat(50)}`,
        '::1:ffff:ffff',
      ],
      'may be IPv4 in IPv6': ['::ffff:10.1.2.3', '::ffff:203.0.113.9', '203.0.113.9'],
      'may be IPv4 in brackets': ['10.1.2.3', '[::FFFF:203.0.113.9]:80', '203.0.113.9'],
      'may be IPv4 in hexadecimal': ['10.1.2.3', '0:0:0:0:0:ffff:cb00:7109', '203.0.113.9'],
      'may come from an IPv6 proxy': ['2001:db8:ff::1', '2001:db8:1::9', '2001:db8:1::9'],
      'is unknown once the client has left': [undefined, '203.0.113.9', 'unknown'],
    }
  for (const [title, [remote, forwarded, expected]] of Object.entries(cases))
    it(title, () => assert.equal(addressOf(remote, forwarded), expected))
})

describe('the network of a client', () => {
  const cases: Record<string, string> = {
    '203.0.113.9': '203.0.113.9',
    '2001:db8:1:2:3:4:5:6': '2001:db8:1:2::/64',
    '2001:db8:1:2:ffff::1': '2001:db8:1:2::/64',
    '2001:DB8:0001::1': '2001:db8:1:0::/64',
    '2001::db8:1:2:3:4': '2001:0:0:db8::/64',
    '::1': '0:0:0:0::/64',
    '2001:db8::': '2001:db8:0:0::/64',
    'fe80::1%eth0': 'fe80:0:0:0::/64',
    unknown: 'unknown',
  }
  for (const [address, expected] of Object.entries(cases))
    it(`of ${address} is ${expected}`, () => assert.equal(networkOf(addressOf(address)), expected))
})
