import { CANCELLED, NODATA, NOTFOUND, Resolver } from 'node:dns/promises'
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'

interface Address {
  readonly address: string
  readonly family: number
}

export type ResolveHost = (host: string) => Promise<readonly Address[]>

export interface ResolverOptions {
  /** Replaces the whole resolution in tests. */
  readonly resolveHost?: ResolveHost
  /** Replaces the name servers of the system in tests. */
  readonly nameServers?: readonly string[]
  /** Folder of the files `hosts` and `resolv.conf`. */
  readonly configurationFolder?: string
}

/** Time in which a name server should respond, in milliseconds. A second attempt takes twice as long. */
const responseMs = 1000

/**
 * Returns a function that resolves a name as the system does by default: by `/etc/hosts`, then by DNS with the search list of
 * `/etc/resolv.conf`. The resolver of the system itself occupies one of two threads per name, which the process also needs for the
 * names of database servers: two names whose name servers hang would stop it. Queries here need no thread.
 * @param signal ends queries
 */
export function createResolver(options: ResolverOptions, signal: AbortSignal): ResolveHost {
  const resolvers = new Set<Resolver>()
  signal.addEventListener('abort', () => {
    for (const resolver of resolvers) resolver.cancel()
  })
  const query: Query = async (name) => {
    if (signal.aborted) throw Object.assign(new Error('The service stops'), { code: CANCELLED })
    // A new one reads the name servers of the system again.
    const resolver = new Resolver({ timeout: responseMs, tries: 2 })
    if (options.nameServers !== undefined) resolver.setServers(options.nameServers)
    resolvers.add(resolver)
    try {
      return await addressesOf(resolver, name)
    } finally {
      resolvers.delete(resolver)
    }
  }
  const { resolveHost = (host: string) => resolve(host, query, options.configurationFolder) } = options
  // Simultaneous connections share one resolution.
  const running = new Map<string, Promise<readonly Address[]>>()
  return (host) => {
    const resolution = running.get(host) ?? resolveHost(host).finally(() => running.delete(host))
    running.set(host, resolution)
    return resolution
  }
}

/** Returns the addresses of a name; none if it does not exist. */
type Query = (name: string) => Promise<Address[]>

async function resolve(host: string, query: Query, folder = '/etc'): Promise<readonly Address[]> {
  const local = addressesInFile(linesOf(`${folder}/hosts`), host)
  if (local.length > 0) return local
  for (const name of candidatesOf(linesOf(`${folder}/resolv.conf`), host)) {
    const addresses = await query(name)
    if (addresses.length > 0) return addresses
  }
  throw Object.assign(new Error(`${host} has no address`), { code: NOTFOUND })
}

/** @throws Error with a code of DNS */
async function addressesOf(resolver: Resolver, name: string): Promise<Address[]> {
  const results = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
  const addresses = results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []))
  const failed = results.find((result) => result.status === 'rejected' && !isUnknown(result.reason))
  if (addresses.length === 0 && failed?.status === 'rejected') throw failed.reason
  return addresses.map((address) => ({ address, family: isIP(address) }))
}

function isUnknown(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException
  return code === NOTFOUND || code === NODATA
}

/** Returns the fields of each line of a file, which are few. Synchronous, because other reads of files need a thread. */
function linesOf(path: string): string[][] {
  try {
    return readFileSync(path, 'utf8')
      .split('\n')
      .map((line) =>
        line
          .replace(/[#;].*/, '')
          .split(/\s+/)
          .filter(Boolean),
      )
  } catch {
    return []
  }
}

/** Returns the addresses that a file such as `/etc/hosts` lists for a name. */
function addressesInFile(lines: readonly string[][], host: string): Address[] {
  const name = withoutDot(host).toLowerCase()
  return lines
    .filter(([, ...names]) => names.some((one) => one.toLowerCase() === name))
    .map(([address = '']) => ({ address, family: isIP(address) }))
    .filter(({ family }) => family !== 0)
}

/** Returns the names to query for a name (resolv.conf(5)): one with few dots is first looked for in the search domains. */
function candidatesOf(lines: readonly string[][], host: string): string[] {
  if (host.endsWith('.')) return [withoutDot(host)]
  let search: readonly string[] = []
  let minDots = 1
  for (const [keyword, ...values] of lines) {
    if (keyword === 'search' || keyword === 'domain') search = values
    if (keyword !== 'options') continue
    for (const option of values) if (option.startsWith('ndots:')) minDots = Number(option.slice(6))
  }
  const inSearch = search.filter((domain) => domain !== '.').map((domain) => `${host}.${withoutDot(domain)}`)
  return host.split('.').length > minDots ? [host, ...inSearch] : [...inSearch, host]
}

function withoutDot(name: string): string {
  return name.replace(/\.$/, '')
}
