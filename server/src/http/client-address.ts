import type { IncomingMessage } from 'node:http'
import { isIP, isIPv6, type BlockList } from 'node:net'

/**
 * Returns the address of a request's client: the rightmost one of `X-Forwarded-For` that is not a trusted proxy. Clients can write
 * anything to the left of it.
 */
export function clientAddressOf({ socket, headers }: IncomingMessage, trustedProxies: BlockList): string {
  const forwarded = String(headers['x-forwarded-for'] ?? '').split(',')
  let address = withoutPort(socket.remoteAddress ?? 'unknown')
  while (isIP(address) !== 0 && trustedProxies.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')) {
    const previous = withoutPort(forwarded.pop()?.trim() ?? '')
    if (isIP(previous) === 0) break
    address = previous
  }
  return address
}

/** Returns the network that one client controls: the address itself, or the /64 of an IPv6 address. */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address
  const [start = '', end] = address.split('::')
  const groups = start === '' ? [] : start.split(':')
  if (end !== undefined) {
    const last = end === '' ? [] : end.split(':')
    groups.push(...new Array<string>(8 - groups.length - last.length).fill('0'), ...last)
  }
  return `${groups
    .slice(0, 4)
    .map((group) => parseInt(group, 16).toString(16))
    .join(':')}::/64`
}

/** Returns the address without a port, brackets and the prefix of an IPv4 address in IPv6. Some proxies add a port. */
function withoutPort(text: string): string {
  const [, ipv4, ipv6] = /^(?:::ffff:)?(\d+(?:\.\d+){3})(?::\d+)?$|^\[(.+)\](?::\d+)?$/i.exec(text) ?? []
  return ipv4 ?? ipv6 ?? text
}
