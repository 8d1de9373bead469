import { chownSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { PostgresServer } from '../failover/postgres-server.ts'
import type { Programs } from '../failover/programs.ts'
import { createApiToken } from '../support/command.ts'
import type { Scope } from '../support/scope.ts'
import { startNewProcess as startService, temporaryFolder } from '../support/service.ts'
import { Acknowledged } from './acknowledged.ts'

/** Creates a folder that PostgreSQL can write to. */
export function folderFor({ user: { uid, gid } }: Programs, parent: string, name: string): string {
  const folder = join(parent, name)
  mkdirSync(folder)
  if (uid !== undefined && gid !== undefined) chownSync(folder, uid, gid)
  return folder
}

/** Starts a service on the database `ugs` of a server and creates some user groups. */
export async function startOn(t: Scope, server: PostgresServer, settings: Record<string, string> = {}) {
  const started = await startService(t, {
    DATABASE_URL: `postgres://${server.credentials}@${server.host}/ugs`,
    UGS_DATA_DIR: temporaryFolder(t),
    ...settings,
  })
  const token = await createApiToken(started, 'Testing')
  const service = { ...started, tokens: { Customer: token, Testing: token } }
  const acknowledged = new Acknowledged()
  await acknowledged.createSome(service)
  return { service, acknowledged }
}
