import type { IncomingMessage } from 'node:http'
import { isIP, isIPv6, SocketAddress, type BlockList } from 'node:net'

/**
 * Returns the address of a request's client: the rightmost one of `X-Forwarded-For` that is not a trusted proxy. Clients can write
 * anything to the left of it.
 */
export function clientAddressOf({ socket, headers }: IncomingMessage, trustedProxies: BlockList): string {
  let address = normalized(socket.remoteAddress ?? 'unknown')
  if (headers['x-forwarded-for'] === undefined) return address
  const forwarded = String(headers['x-forwarded-for']).split(',')
  while (isIP(address) !== 0 && trustedProxies.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')) {
    const previous = normalized(forwarded.pop()?.trim() ?? '')
    if (isIP(previous) === 0) break
    address = previous
  }
  return address
}

/** Returns the network that one client controls: the address from `clientAddressOf` itself, or the /64 of an IPv6 one. */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address
  const [start = '', end] = address.split('::')
  const groups = start === '' ? [] : start.split(':')
  if (end !== undefined) {
    const last = end.split(':')
    groups.push(...new Array<string>(8 - groups.length - last.length).fill('0'), ...last)
  }
  return `${groups.slice(0, 4).join(':')}::/64`
}

/**
 * Returns an address in its canonical form, without a port and brackets, which some proxies add, without a zone, and IPv4 in
 * IPv6 as IPv4. Returns other texts as they are.
 */
function normalized(text: string): string {
  const [, ipv4, ipv6] = /^(\d+(?:\.\d+){3}):\d+$|^\[(.+)\](?::\d+)?$/.exec(text) ?? []
  const address = (ipv4 ?? ipv6 ?? text).replace(/%.*$/, '')
  if (!isIPv6(address)) return address
  return new SocketAddress({ address, family: 'ipv6' }).address.replace(/^::ffff:(?=.*\.)/, '')
}
