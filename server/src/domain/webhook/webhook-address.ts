import { BlockList, isIP } from 'node:net'

/** Addresses to which webhooks may be sent. */
export interface WebhookAddressRules {
  readonly allowsHttp: boolean
  /** Allows private and loopback addresses. */
  readonly allowsPrivate: boolean
}

function blockListOf(networks: readonly string[]): BlockList {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', prefix] = network.split('/')
    list.addSubnet(address, Number(prefix), isIP(address) === 6 ? 'ipv6' : 'ipv4')
  }
  return list
}

const privateNetworks = blockListOf([
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '::1/128',
  'fc00::/7',
])

/** Metadata services of clouds inside private networks. Those of most clouds are link-local. */
const metadataServices = blockListOf(['100.100.100.200/32', 'fd00:ec2::254/128'])

/** IPv4 networks that are neither private nor public: link-local, multicast, reserved (IANA special-purpose registry). */
const specialNetworks = blockListOf([
  '0.0.0.0/8',
  '169.254.0.0/16',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
])

/** All other IPv6 addresses are special, among them link-local, multicast, IPv4-mapped and NAT64. */
const globalUnicast = blockListOf(['2000::/3'])
/** Networks of `globalUnicast` that embed IPv4 addresses or are reserved: Teredo, 6to4, documentation. */
const specialUnicast = blockListOf(['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'])

/** Returns true if webhooks may be sent to an IP address. */
export function isAllowedAddress(address: string, { allowsPrivate }: WebhookAddressRules): boolean {
  const version = isIP(address)
  // An IPv6 address with a zone is link-local.
  if (version === 0 || address.includes('%')) return false
  const family = version === 6 ? 'ipv6' : 'ipv4'
  // Node.js compares an IPv4-mapped address also with IPv4 networks.
  if (version === 6 && isMapped(address)) return false
  if (metadataServices.check(address, family)) return false
  if (privateNetworks.check(address, family)) return allowsPrivate
  if (version === 4) return !specialNetworks.check(address, family)
  return globalUnicast.check(address, family) && !specialUnicast.check(address, family)
}

const mapped = blockListOf(['::ffff:0:0/96'])

function isMapped(address: string): boolean {
  return mapped.check(address, 'ipv6')
}

/**
 * Returns the problem of a URL, as text that continues "url: "; null if webhooks may be sent to it. A host name is resolved and
 * checked at each connection.
 */
export function findUrlProblem(text: string, rules: WebhookAddressRules): string | null {
  const url = URL.parse(text)
  if (url === null || !['https:', 'http:'].includes(url.protocol)) return 'must be an https URL'
  if (url.protocol === 'http:' && !rules.allowsHttp) return 'must be an https URL'
  if (url.username !== '' || url.password !== '') return 'must not contain a user name or password'
  if (url.hash !== '') return 'must not contain a fragment'
  const host = url.hostname.replace(/^\[|\]$/g, '')
  if (isIP(host) !== 0 && !isAllowedAddress(host, rules)) return 'must not be a private or reserved address'
  return null
}
