import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'

/**
 * Resolves a host name, and checks that it is an address of this machine whose port is free. 0 stands for any port.
 * @throws the system's error
 */
export async function ownAddress(host: string, port = 0): Promise<string> {
  const { address } = await lookup(host)
  // Exclusive, because workers share other servers.
  const server = createServer().listen({ host: address, port, exclusive: true })
  await once(server, 'listening')
  server.close()
  await once(server, 'close')
  return address
}

/** Returns the URL of a server for clients on this machine. An unspecified address becomes the loopback address. */
export function listeningUrl({ address, family, port }: AddressInfo): string {
  const host = address === '0.0.0.0' ? '127.0.0.1' : address === '::' ? '::1' : address
  return `http://${family === 'IPv6' ? `[${host}]` : host}:${port}`
}
