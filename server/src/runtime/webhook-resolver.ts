import { execFile } from 'node:child_process'
import { lookup, Resolver, TIMEOUT } from 'node:dns/promises'
import { promisify } from 'node:util'

interface Address {
  readonly address: string
  readonly family: number
}

export type ResolveHost = (host: string) => Promise<readonly Address[]>

export interface ResolverOptions {
  /** Replaces the resolver of the system in tests. */
  readonly resolveHost?: ResolveHost
  /** Replaces the name servers of the system in tests. */
  readonly nameServers?: readonly string[]
}

/** Time in which each name server should respond, in milliseconds. Node.js waits for up to twice as long. */
const responseMs = 500
/** Time limit for a name without a response, in milliseconds. */
const processMs = 2000

/**
 * Returns a function that resolves a name with the resolver of the system, which knows `/etc/hosts` and search domains. It has two
 * threads in each process, also for the names of database servers. A name whose name server hangs would occupy one for many seconds,
 * even if the process should end. So DNS is queried first, which needs no thread, and a name without a response is resolved in another
 * process, one at a time.
 * @param signal ends these processes
 */
export function createResolver(
  { resolveHost = (host) => lookup(host, { all: true }), nameServers }: ResolverOptions,
  signal: AbortSignal,
): ResolveHost {
  // Simultaneous connections share one resolution.
  const running = new Map<string, Promise<readonly Address[]>>()
  let lastProcess: Promise<unknown> = Promise.resolve()

  const resolve: ResolveHost = async (host) => {
    if (await hasResponse(host, nameServers)) return resolveHost(host)
    const resolution = lastProcess.then(() => resolveInProcess(host, signal))
    lastProcess = resolution.catch(() => undefined)
    return resolution
  }
  return (host) => {
    const resolution = running.get(host) ?? resolve(host).finally(() => running.delete(host))
    running.set(host, resolution)
    return resolution
  }
}

/** Returns true if name servers respond for a name, also with an error. */
async function hasResponse(host: string, nameServers?: readonly string[]): Promise<boolean> {
  // A new one reads the configuration of the system again.
  const resolver = new Resolver({ timeout: responseMs, tries: 1 })
  if (nameServers !== undefined) resolver.setServers(nameServers)
  const results = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
  return !results.some(
    (result) => result.status === 'rejected' && (result.reason as NodeJS.ErrnoException).code === TIMEOUT,
  )
}

const program = `require('node:dns').lookup(process.argv[1], { all: true }, (error, addresses) => {
  if (error) throw error
  console.log(JSON.stringify(addresses))
})`

async function resolveInProcess(host: string, signal: AbortSignal): Promise<readonly Address[]> {
  const options = { signal, timeout: processMs, killSignal: 'SIGKILL', env: {} } as const
  try {
    const { stdout } = await promisify(execFile)(process.execPath, ['-e', program, '--', host], options)
    return JSON.parse(stdout) as Address[]
  } catch {
    throw Object.assign(new Error(`The name servers of ${host} do not respond`), { code: TIMEOUT })
  }
}
