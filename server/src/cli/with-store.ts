import { basename, dirname } from 'node:path'
import { readConfig } from '../config/settings.ts'
import type { Environment } from '../domain/environment.ts'
import type { Store } from '../domain/store.ts'
import type { Workspace } from '../domain/workspace/workspace.ts'
import type { Caller } from '../domain/caller.ts'
import type { UserGroupService } from '../domain/user-group/user-group-service.ts'
import { operator } from '../runtime/operator.ts'
import { openConfiguredStore, openUserGroupService } from '../runtime/configured-store.ts'
import { fileExists } from '../store/file-access.ts'
import type { StoreLocation } from '../store/location.ts'
import { CommandError, UsageError } from './errors.ts'

/**
 * Opens the configured store, runs `work` and closes the store.
 * @throws CommandError if the file of the store does not exist, StoreError if the database has no store
 */
export async function withStore<T>(work: (store: Store) => Promise<T>): Promise<T> {
  const config = readConfig(process.env)
  refuseMissingFile(config.storeLocation)
  const store = await openConfiguredStore(config, undefined, true)
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}

/**
 * Opening would create the file, so a command in the wrong folder would manage a new, empty store.
 * @throws CommandError if the file of the store does not exist; StoreError if this user may not find out
 */
export function refuseMissingFile(location: StoreLocation): void {
  if (location.kind !== 'sqlite' || fileExists(location.path)) return
  const { path } = location
  throw new CommandError(
    `no store in ${dirname(path)} (there is no ${basename(path)}); set UGS_DATA_DIR or DATABASE_URL, or run \`ugs serve\` to create one`,
  )
}

/** Like `withStore`, and loads the secret keys, for commands that show or issue user group tokens. */
export async function withUserGroups<T>(
  work: (userGroups: UserGroupService, store: Store) => Promise<T>,
): Promise<T> {
  const config = readConfig(process.env)
  return withStore(async (store) => work(await openUserGroupService(config, store), store))
}

/** @throws UsageError if there is no such workspace */
async function findWorkspace(store: Store, name: string): Promise<Workspace> {
  const workspaces = await store.workspaces.list()
  const workspace = workspaces.find((candidate) => candidate.name === name)
  if (workspace !== undefined) return workspace
  const names = workspaces.map((candidate) => `"${candidate.name}"`).join(', ')
  throw new UsageError(`there is no workspace "${name}"; the workspaces are ${names}`)
}

/** Common options of commands for one environment. */
export interface TenantScopeOptions {
  environment: Environment
  workspace: string
  json?: boolean
}

/** @throws UsageError if there is no such workspace */
export async function callerOf(
  store: Store,
  { workspace, environment }: TenantScopeOptions,
): Promise<Caller> {
  const workspaceId = (await findWorkspace(store, workspace)).id
  return { workspaceId, environment, ...operator() }
}
