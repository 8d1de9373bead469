import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { findUrlProblem, isAllowedAddress } from '../../../../src/domain/webhook/webhook-address.ts'

const strict = { allowsHttp: false, allowsPrivate: false }
const open = { allowsHttp: true, allowsPrivate: true }

describe('addresses of webhook endpoints', () => {
  const publicAddresses = ['8.8.8.8', '93.184.215.14', '2606:4700::1111', '2a00:1450:4001:81b::200e']
  const privateAddresses = [
    ...[
      '10.0.0.1',
      '127.0.0.1',
      '127.255.255.255',
      '172.16.0.1',
      '172.31.255.255',
      '192.168.1.1',
      '100.64.0.1',
    ],
    ...['::1', 'fc00::1', 'fd12:3456::1'],
  ]
  const specialAddresses = [
    ...['0.0.0.0', '169.254.169.254', '169.254.0.1', '192.0.0.1', '192.0.2.1', '198.18.0.1', '198.51.100.1'],
    ...['203.0.113.1', '224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255', '100.100.100.200'],
    ...['::', 'fe80::1', 'fe80::1%eth0', 'ff02::1', 'fd00:ec2::254', '2001:db8::1', '100::1'],
    // IPv4 addresses in IPv6: mapped, compatible, NAT64, 6to4 and Teredo.
    ...[
      '::ffff:8.8.8.8',
      '::ffff:127.0.0.1',
      '::ffff:7f00:1',
      '::127.0.0.1',
      '64:ff9b::7f00:1',
      '64:ff9b:1::1',
    ],
    ...['2002:7f00:1::', '2001::1', 'localhost', '', '1.2.3'],
  ]

  it('allow public addresses', () => {
    for (const address of publicAddresses) {
      assert.ok(isAllowedAddress(address, strict), address)
      assert.ok(isAllowedAddress(address, open), address)
    }
  })

  it('allow private and loopback addresses only with the setting', () => {
    for (const address of privateAddresses) {
      assert.ok(!isAllowedAddress(address, strict), address)
      assert.ok(isAllowedAddress(address, open), address)
    }
  })

  it('never allow link-local, metadata, multicast, reserved and embedded addresses', () => {
    for (const address of specialAddresses) {
      assert.ok(!isAllowedAddress(address, strict), address)
      assert.ok(!isAllowedAddress(address, open), address)
    }
  })
})

describe('URLs of webhook endpoints', () => {
  it('are https URLs with a host name or a public address', () => {
    for (const url of ['https://example.com/a?b=c', 'https://8.8.8.8:8443/', 'https://[2606:4700::1111]/'])
      assert.equal(findUrlProblem(url, strict), null, url)
  })

  it('may use http and private addresses with the settings', () => {
    assert.equal(findUrlProblem('http://example.com/', strict), 'must be an https URL')
    assert.equal(findUrlProblem('http://127.0.0.1:3000/', open), null)
  })

  const refused = [
    ...['', 'example.com', '/path', 'ftp://example.com/', 'javascript:alert(1)', 'https://', 'https://a b/'],
    ...['https://user@example.com/', 'https://user:secret@example.com/', 'https://:secret@example.com/'],
    ...['https://example.com/#part', 'https://169.254.169.254/latest', 'https://[::ffff:7f00:1]/'],
  ]
  for (const url of refused) {
    it(`refuses ${url === '' ? 'the empty text' : url}`, () => {
      const problem = findUrlProblem(url, open)
      assert.ok(problem !== null)
      assert.doesNotMatch(problem, /secret/)
    })
  }

  it('refuses loopback in any spelling', () => {
    for (const host of ['127.1', '0x7f000001', '2130706433', '0177.0.0.1', '[::1]', '127.0.0.1.'])
      assert.notEqual(findUrlProblem(`https://${host}/`, strict), null, host)
  })
})
