import type { AddressInfo } from 'node:net'

/** Returns the URL of a server for clients on this machine. An unspecified address becomes the loopback address. */
export function listeningUrl({ address, family, port }: AddressInfo): string {
  const host = address === '0.0.0.0' ? '127.0.0.1' : address === '::' ? '::1' : address
  return `http://${family === 'IPv6' ? `[${host}]` : host}:${port}`
}
