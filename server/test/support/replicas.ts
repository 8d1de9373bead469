import { randomBytes } from 'node:crypto'
import { createApiToken } from './command.ts'
import { migratedDatabase } from './database.ts'
import type { Scope } from './scope.ts'
import { startService, type RunningService } from './service.ts'
import { userApi } from './user-api.ts'

export interface Replica {
  readonly service: RunningService
  /** `/api/user` with an API token of the environment Testing. */
  readonly api: ReturnType<typeof userApi>
}

export interface Replicas {
  readonly databaseUrl: string
  /** Settings of every replica. */
  readonly environment: Record<string, string>
  /** An API token of the environment Testing. */
  readonly token: string
  readonly all: readonly [Replica, Replica, ...Replica[]]
}

/** Starts services on one database with the same secret keys, all at once. */
export async function startReplicas(
  t: Scope,
  count: number,
  { DATABASE_URL, ...more }: Record<string, string> = {},
  startOne = startService,
): Promise<Replicas> {
  const databaseUrl = DATABASE_URL ?? (await migratedDatabase(t))
  const environment = {
    DATABASE_URL: databaseUrl,
    UGS_SECRET_KEYS: `k1:${randomBytes(32).toString('base64')}`,
    ...more,
  }
  const services = await Promise.all(Array.from({ length: count }, () => startOne(t, environment)))
  const [first, second, ...others] = services
  if (first === undefined || second === undefined) throw new Error('start at least two replicas')
  const token = await createApiToken(first, 'Testing')
  const replicaOf = (service: RunningService): Replica => ({ service, api: userApi(service.origin, token) })
  return {
    databaseUrl,
    environment,
    token,
    all: [replicaOf(first), replicaOf(second), ...others.map(replicaOf)],
  }
}
