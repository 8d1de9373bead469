import { lookup } from 'node:dns/promises'
import type { Config } from '../config/settings.ts'
import { listeningUrl } from '../http/server/listening.ts'

/** Returns the URL of a service with these settings, for clients on this machine. */
export async function configuredOrigin({ HOST, PORT }: Pick<Config, 'HOST' | 'PORT'>): Promise<string> {
  const { address, family } = await lookup(HOST)
  return listeningUrl({ address, family: `IPv${family}`, port: PORT })
}
