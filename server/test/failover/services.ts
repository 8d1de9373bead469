import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { createApiToken } from '../support/command.ts'
import { sendRequest } from '../support/http.ts'
import { startNewProcess as startService, type RunningService } from '../support/service.ts'
import type { Belongings } from './belongings.ts'
import { poll } from './poll.ts'
import type { PostgresServer } from './postgres-server.ts'

export interface Services {
  readonly running: readonly RunningService[]
  readonly origins: readonly string[]
  readonly apiToken: string
  /** Token of the environment Testing with the scope `admin`. */
  readonly adminToken: string
}

export const database = 'ugs'

/**
 * Two services with default settings on one database, with a URL that names all of these servers. The first is on the same
 * machine as the servers, the second on another one.
 */
export async function startServices(
  belongings: Belongings,
  primary: PostgresServer,
  standbys: readonly PostgresServer[] = [],
): Promise<Services> {
  await primary.query(`CREATE DATABASE ${database}`)
  const servers = [primary, ...standbys]
  const urlOf = (hosts: readonly string[]) =>
    `postgres://${primary.credentials}@${hosts.join()}/${database}?target_session_attrs=read-write`
  return startServicesOn(belongings, [
    urlOf(servers.map(({ host }) => host)),
    urlOf(servers.map(({ remoteHost }) => remoteHost)),
  ])
}

/** Starts a service for each URL, with the same secret key and data folder. */
export async function startServicesOn(
  belongings: Belongings,
  databaseUrls: readonly [string, ...string[]],
  settings: Readonly<Record<string, string>> = {},
): Promise<Services> {
  const secretKeys = `failover:${randomBytes(32).toString('base64')}`
  const dataFolder = belongings.folder()
  const start = async (databaseUrl: string) => {
    const service = await startService(
      // `belongings` ends it.
      { after: () => undefined },
      {
        DATABASE_URL: databaseUrl,
        UGS_SECRET_KEYS: secretKeys,
        UGS_DATA_DIR: dataFolder,
        ...settings,
      },
    )
    belongings.process(service.pid, 'SIGKILL')
    return service
  }
  const running = await Promise.all(databaseUrls.map(start))
  const first = running[0] as RunningService
  const apiToken = await createApiToken(first, 'Testing')
  const adminToken = await createApiToken(first, 'Testing', '--scopes', 'admin')
  return { running, origins: running.map(({ origin }) => origin), apiToken, adminToken }
}

/** Resolves when `/readyz` of every service returns the status. `/healthz` must always return 200. */
export async function readiness({ origins }: Services, status: 200 | 503, boundMs: number): Promise<void> {
  await Promise.all(
    origins.map(async (origin) => {
      await poll(`/readyz says ${status}`, boundMs, async () => {
        const response = await sendRequest(origin, { path: '/readyz' })
        return response.status === status ? response : undefined
      })
      assert.equal((await sendRequest(origin, { path: '/healthz' })).status, 200)
    }),
  )
}

/** Asserts that the first processes still run, and that no token and no defect is in their logs. */
export function assertLive({ running }: Services): void {
  for (const { pid, stderr } of running) {
    const lastLines = stderr().split('\n').slice(-20).join('\n')
    assert.ok(isAlive(pid), `a service has ended:\n${lastLines}`)
    assert.ok(!/ug[at]_(customer|testing)_\w/.test(stderr()), 'a token is in the log of a service')
    assert.ok(!stderr().includes('"code":"internal"'), `a service has a defect:\n${lastLines}`)
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
