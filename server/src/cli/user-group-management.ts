import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { jsonValue } from '../contract/json/json-writer.ts'
import { shownFinding } from '../http/admin/isolation-findings/responses.ts'
import { shownLeakedToken } from '../http/admin/leaked-tokens/responses.ts'
import { viewOf } from '../http/admin/user-groups/responses.ts'
import { systemClock } from '../domain/util/clock.ts'
import { stepsOfPointer } from '../domain/json/json-pointer.ts'
import { Promotion } from '../domain/user-group/promotion.ts'
import type { Store } from '../domain/store.ts'
import type { UserGroupVersion } from '../domain/user-group/user-group.ts'
import { UserGroupManagement, type UserGroupSearch } from '../domain/user-group/user-group-management.ts'
import type { Caller, UserGroupService } from '../domain/user-group/user-group-service.ts'
import { CommandError, UsageError } from './errors.ts'
import { firstOf } from './first-of.ts'
import {
  jsonOption,
  parseCount,
  parseName,
  tenantScopeCommand,
  userGroupCommand,
  workspaceOption,
} from './options.ts'
import { formatTime, printJson, printMessage, printTable } from './output.ts'
import { callerOf, withUserGroups, type TenantScopeOptions } from './with-store.ts'

// Loaded only for `--json`: the schemas take a tenth of the CPU of a command.
const userGroupSchemas = () => import('../http/admin/user-groups/schemas.ts')

interface SearchOptions extends TenantScopeOptions {
  idPrefix?: string
  name?: string
  property?: string
  value?: string
  schema?: string
  dataSource?: string
  suspended?: boolean
  limit: number
}

interface Dependencies {
  readonly management: UserGroupManagement
  readonly userGroups: UserGroupService
  readonly store: Store
  readonly caller: Caller
}

/** Adds the user group operations of `/admin/v1` as commands. `--json` prints the same fields as the API. */
export function addUserGroupManagementCommands(userGroup: Command): void {
  const command = (name: string, description: string) => tenantScopeCommand(userGroup, name, description)
  const commandOnOne = (name: string, description: string) => userGroupCommand(userGroup, name, description)
  command('search', 'Find user groups by their fields.')
    .option('--id-prefix <text>', 'beginning of the id', parseName)
    .option('--name <text>', 'part of the name, case-insensitive', parseName)
    .option('--property <pointer>', 'JSON Pointer into the properties, such as /plan; requires --value')
    .option('--value <text>', 'value of the property: a string, number or boolean')
    .option('--schema <key>', 'key of a mapping entry; requires --data-source', parseName)
    .option('--data-source <key>', 'value of the mapping entry; requires --schema', parseName)
    .option('--suspended', 'only suspended user groups')
    .option('--no-suspended', 'only user groups that are not suspended')
    .option('--limit <count>', 'maximum number of user groups', parseCount, 100)
    .action(search)
  commandOnOne('view', 'Show the variables, data sources and last changes of a user group.').action(view)
  commandOnOne('versions', 'List the earlier versions of a user group.').action(listVersions)
  commandOnOne('undo', 'Revert name, mapping and properties to an earlier version.')
    .option('--revision <revision>', 'revision of the version (default: the previous one)', parseCount)
    .action(undo)
  commandOnOne('suspend', 'Make the tokens of a user group inactive for the renderer.').action(
    (id: string, options: TenantScopeOptions) => setSuspended(id, true, options),
  )
  commandOnOne('resume', 'Make the tokens of a suspended user group active again.').action(
    (id: string, options: TenantScopeOptions) => setSuspended(id, false, options),
  )
  command('list-deleted', 'List user groups deleted in the last 30 days.').action(listDeleted)
  command('restore', 'Restore a deleted user group and its token.')
    .argument('<team_id>', 'id from `ugs user-group list-deleted`', parseCount)
    .action(restore)
  command(
    'isolation',
    'List shared data sources, mappings that name nothing registered, and schemas mapped twice.',
  ).action(isolation)
  userGroup
    .command('promote')
    .description('Copy name, mapping and properties of user groups from Testing to Customer.')
    .argument('<user_group_id...>', 'your ids of the user groups')
    .option('--dry-run', 'report changes without making them')
    .addOption(workspaceOption())
    .addOption(jsonOption())
    .action(promote)
  command('whose-token', 'Read a token from standard input and show its owner and whether it works.')
    .option('--rotate', 'stop the token: replace a user group token, revoke an API token')
    .action(findLeaked)
}

function withManagement<T>(
  options: TenantScopeOptions,
  work: (dependencies: Dependencies) => Promise<T>,
): Promise<T> {
  return withUserGroups(async (userGroups, store) => {
    const management = new UserGroupManagement({ store, userGroups, clock: systemClock })
    return work({ management, userGroups, store, caller: await callerOf(store, options) })
  })
}

async function search(options: SearchOptions): Promise<void> {
  const filter = searchOf(options)
  const found = await withManagement(options, ({ management, caller }) =>
    firstOf(options.limit, (page) => management.search(caller, filter, page)),
  )
  if (options.json) {
    const { AdminUserGroup } = await userGroupSchemas()
    printJson(found.map((group) => jsonValue(AdminUserGroup, group)))
  } else {
    printTable(
      ['TEAM_ID', 'USER_GROUP_ID', 'NAME', 'UPDATED', 'SUSPENDED'],
      found.map((group) => [
        group.teamId,
        group.providedId,
        group.name,
        formatTime(group.updatedAt),
        formatTime(group.suspendedAt),
      ]),
    )
  }
}

/** @throws UsageError if one of two options is given without the other */
function searchOf(options: SearchOptions): UserGroupSearch {
  const { idPrefix, name, property, value, schema, dataSource, suspended } = options
  if ((property === undefined) !== (value === undefined))
    throw new UsageError('--property and --value go together')
  if ((schema === undefined) !== (dataSource === undefined))
    throw new UsageError('--schema and --data-source go together')
  if (property !== undefined && !property.startsWith('/'))
    throw new UsageError('--property: must be a JSON Pointer, such as /plan')
  return {
    ...(idPrefix !== undefined && { providedIdPrefix: idPrefix }),
    ...(name !== undefined && { namePart: name }),
    ...(property !== undefined &&
      value !== undefined && { property: { path: stepsOfPointer(property), value } }),
    ...(schema !== undefined && dataSource !== undefined && { mappedTo: [schema, dataSource] as const }),
    ...(suspended !== undefined && { suspended }),
  }
}

async function view(id: string, options: TenantScopeOptions): Promise<void> {
  const details = await withManagement(options, async ({ management, userGroups, caller }) =>
    management.view(caller, (await userGroups.show(caller, id)).teamId),
  )
  if (options.json) {
    const { UserGroupViewResponse } = await userGroupSchemas()
    printJson(withoutSuccess(jsonValue(UserGroupViewResponse, viewOf(details))))
    return
  }
  const { userGroup, entries, lastIntrospectedAt, versions } = details
  printTable(
    ['FIELD', 'VALUE'],
    [
      ['user_group.provided_id', userGroup.providedId],
      ['user_group.name', userGroup.name],
      ['user_group.properties', userGroup.properties],
      ...entries.map(({ schemaKey, dataSourceKey, dataSource }) => [
        `schema ${schemaKey}`,
        dataSource === null
          ? `${dataSourceKey} (not registered)`
          : `${dataSource.providedId} "${dataSource.name}" (${dataSource.id})`,
      ]),
      ['token', userGroup.suspendedAt === null ? 'active' : 'suspended'],
      ['last introspected', formatTime(lastIntrospectedAt)],
      ['last changed', `${formatTime(userGroup.updatedAt)} by ${userGroup.updatedBy ?? 'unknown'}`],
      ['versions', versions.map(({ revision }) => revision).join(', ')],
    ],
  )
}

async function listVersions(id: string, options: TenantScopeOptions): Promise<void> {
  const versions = await versionsOf(id, options)
  if (options.json) {
    const { UserGroupVersion } = await userGroupSchemas()
    printJson(versions.map((version) => jsonValue(UserGroupVersion, version)))
  } else {
    printTable(
      ['REVISION', 'SET', 'BY', 'NAME', 'MAPPING', 'PROPERTIES'],
      versions.map((version) => [
        version.revision,
        formatTime(version.updatedAt),
        version.updatedBy,
        version.name,
        version.mapping,
        version.properties,
      ]),
    )
  }
}

function versionsOf(id: string, options: TenantScopeOptions): Promise<UserGroupVersion[]> {
  return withManagement(options, async ({ management, userGroups, caller }) =>
    management.listVersions(caller, (await userGroups.show(caller, id)).teamId, 200),
  )
}

async function undo(id: string, options: TenantScopeOptions & { revision?: number }): Promise<void> {
  const restored = await withManagement(options, async ({ management, userGroups, caller }) => {
    const { teamId, revision } = await userGroups.show(caller, id)
    const [last] = await management.listVersions(caller, teamId, 1)
    const version = options.revision ?? last?.revision
    if (version === undefined) throw new CommandError(`user group "${id}" has no earlier version`)
    return management.restoreVersion(caller, { teamId, revision }, version)
  })
  if (options.json) {
    const { AdminUserGroup } = await userGroupSchemas()
    printJson(jsonValue(AdminUserGroup, restored))
  } else printMessage(`Reverted user group "${id}".`)
}

async function setSuspended(id: string, suspended: boolean, options: TenantScopeOptions): Promise<void> {
  const changed = await withManagement(options, async ({ management, userGroups, caller }) => {
    const { teamId } = await userGroups.show(caller, id)
    return management.setSuspended(caller, { teamId }, suspended)
  })
  if (options.json) {
    const { AdminUserGroup } = await userGroupSchemas()
    printJson(jsonValue(AdminUserGroup, changed))
  } else printMessage(`${suspended ? 'Suspended' : 'Resumed'} user group "${id}".`)
}

async function listDeleted(options: TenantScopeOptions): Promise<void> {
  const groups = await withManagement(options, async ({ management, caller }) => {
    const all = []
    for (let after: number | null = null; ; after = all.at(-1)?.teamId ?? null) {
      const page = await management.listDeleted(caller, after, 1000)
      all.push(...page)
      if (page.length < 1000) return all
    }
  })
  if (options.json) {
    const { DeletedUserGroup } = await userGroupSchemas()
    printJson(groups.map((group) => jsonValue(DeletedUserGroup, group)))
  } else {
    printTable(
      ['TEAM_ID', 'USER_GROUP_ID', 'NAME', 'DELETED', 'BY'],
      groups.map((group) => [
        group.teamId,
        group.providedId,
        group.name,
        formatTime(group.deletedAt),
        group.deletedBy,
      ]),
    )
  }
}

async function restore(teamId: number, options: TenantScopeOptions): Promise<void> {
  const restored = await withManagement(options, ({ management, caller }) =>
    management.restoreDeleted(caller, teamId),
  )
  if (options.json) {
    const { AdminUserGroup } = await userGroupSchemas()
    printJson(jsonValue(AdminUserGroup, restored))
  } else printMessage(`Restored user group "${restored.providedId}".`)
}

async function isolation(options: TenantScopeOptions): Promise<void> {
  const findings = await withManagement(options, async ({ management, caller }) => {
    const all = []
    let position: string | null = null
    do {
      const page = await management.findIsolationFindings(caller, { position, limit: 200 })
      all.push(...page.items)
      position = page.position
    } while (position !== null)
    return all
  })
  if (options.json) {
    const { IsolationFinding } = await import('../http/admin/isolation-findings/schemas.ts')
    printJson(findings.map((finding) => jsonValue(IsolationFinding, shownFinding(finding))))
  } else {
    printTable(
      ['FINDING', 'SCHEMA', 'DATA_SOURCE', 'USER_GROUPS'],
      findings.map(({ kind, entry, userGroups }) => [
        kind,
        ...entry,
        userGroups.map(({ providedId }) => providedId).join(', ') + (userGroups.length === 10 ? ', …' : ''),
      ]),
    )
  }
}

async function promote(
  ids: string[],
  { dryRun = false, ...options }: Omit<TenantScopeOptions, 'environment'> & { dryRun?: boolean },
): Promise<void> {
  const tenantScope = { ...options, environment: 'Customer' } as const
  const results = await withManagement(tenantScope, ({ store, userGroups, caller }) =>
    new Promotion({ store, userGroups }).promote(caller, ids, dryRun),
  )
  if (options.json) {
    const { PromotionResult } = await import('../http/admin/promotions/schemas.ts')
    printJson(results.map((result) => jsonValue(PromotionResult, result)))
  } else {
    printTable(
      ['USER_GROUP_ID', 'OUTCOME', 'DIFFERENT'],
      results.map(({ providedId, outcome, differences, message }) => [
        providedId,
        outcome,
        message ?? differences.map(({ path }) => path).join(', '),
      ]),
    )
  }
  if (results.some(({ outcome }) => outcome === 'refused' || outcome === 'not_found'))
    throw new CommandError('some user groups could not be promoted')
}

async function findLeaked({
  rotate = false,
  ...options
}: TenantScopeOptions & { rotate?: boolean }): Promise<void> {
  // Command-line arguments are visible to other users of the machine.
  const token = readFileSync(0, 'utf8').trim()
  const leaked = await withManagement(options, ({ management, caller }) =>
    management.findLeaked(caller, token, rotate),
  )
  if (options.json) {
    const { LeakedTokenResponse } = await import('../http/admin/leaked-tokens/schemas.ts')
    printJson(withoutSuccess(jsonValue(LeakedTokenResponse, shownLeakedToken(leaked))))
    return
  }
  if (leaked.kind === 'unknown') {
    printMessage(`The environment ${options.environment} of this workspace has no such token.`)
    return
  }
  const owner =
    leaked.kind === 'api_token'
      ? `API token ${leaked.apiToken.id} "${leaked.apiToken.name}"`
      : `token of user group "${leaked.userGroup.providedId}"`
  const state = leaked.works ? 'active' : 'inactive'
  const stopped =
    leaked.kind === 'api_token'
      ? 'It is now revoked.'
      : leaked.rotated
        ? 'It is now replaced.'
        : 'It is now stopped.'
  printMessage(rotate ? `It was an ${state} ${owner}. ${stopped}` : `It is an ${state} ${owner}.`)
}

/** Removes `success` from a response of the API. */
function withoutSuccess(response: object): object {
  return { ...response, success: undefined }
}
