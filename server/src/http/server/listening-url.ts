import type { AddressInfo } from 'node:net'

/** Where a person on this machine reaches a server: the unspecified address is no place to go to. */
export function listeningUrl({ address, family, port }: AddressInfo): string {
  const host = address === '0.0.0.0' ? '127.0.0.1' : address === '::' ? '::1' : address
  return `http://${family === 'IPv6' ? `[${host}]` : host}:${port}`
}
