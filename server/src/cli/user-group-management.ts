import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { isolationFindingJson } from '../http/admin/isolation-findings/responses.ts'
import { leakedTokenResponse } from '../http/admin/leaked-tokens/responses.ts'
import { promotionResultJson } from '../http/admin/promotions/responses.ts'
import {
  deletedUserGroupJson,
  userGroupJson,
  versionJson,
  viewResponse,
} from '../http/admin/user-groups/responses.ts'
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
import { formatTime, printJson, printTable } from './output.ts'
import { callerOf, withUserGroups, type TenantScopeOptions } from './with-store.ts'

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

interface Parts {
  readonly management: UserGroupManagement
  readonly userGroups: UserGroupService
  readonly store: Store
  readonly caller: Caller
}

/** What `/admin/v1` does with user groups, for an operator: with `--json` it is told in the same shape. */
export function addUserGroupManagementCommands(userGroup: Command): void {
  const command = (name: string, description: string) => tenantScopeCommand(userGroup, name, description)
  const commandOnOne = (name: string, description: string) => userGroupCommand(userGroup, name, description)
  command('search', 'Find user groups by what they are.')
    .option('--id-prefix <text>', 'what the id starts with', parseName)
    .option('--name <text>', 'a part of the name, in whatever case', parseName)
    .option('--property <pointer>', 'a place in the properties, such as /plan; with --value')
    .option('--value <text>', 'the string, number or boolean there')
    .option('--schema <key>', 'a key of the mapping; with --data-source', parseName)
    .option('--data-source <key>', 'its value', parseName)
    .option('--suspended', 'only those that are suspended')
    .option('--no-suspended', 'only those that are not')
    .option('--limit <count>', 'how many at most', parseCount, 100)
    .action(search)
  commandOnOne('view', 'Show what a user group sees, and its last changes.').action(view)
  commandOnOne('versions', 'List what a user group was before its last changes.').action(listVersions)
  commandOnOne('undo', 'Have name, mapping and properties be as they were before the last change.')
    .option('--revision <revision>', 'the version to go back to (default: the last one)', parseCount)
    .action(undo)
  commandOnOne('suspend', 'Have the renderer take its tokens as inactive, at once.').action(
    (id: string, options: TenantScopeOptions) => setSuspended(id, true, options),
  )
  commandOnOne('resume', 'Have the renderer take its tokens again.').action(
    (id: string, options: TenantScopeOptions) => setSuspended(id, false, options),
  )
  command('list-deleted', 'List what was deleted within the last 30 days.').action(listDeleted)
  command('restore', 'Restore a deleted user group, its token included.')
    .argument('<team_id>', 'its id, as `ugs user-group list-deleted` shows it', parseCount)
    .action(restore)
  command('isolation', 'Find user groups that share a data source, or are mapped to nothing.').action(
    isolation,
  )
  userGroup
    .command('promote')
    .description('Bring user groups from Testing to Customer: name, mapping and properties.')
    .argument('<user_group_id...>', 'the ids of those to promote')
    .option('--dry-run', 'change nothing, and say what would be different')
    .addOption(workspaceOption())
    .addOption(jsonOption())
    .action(promote)
  command('whose-token', 'Say whose token it is that is read from standard input, and whether it works.')
    .option('--rotate', 'replace the user group token, or revoke the API token, at once')
    .action(findLeaked)
}

function withManagement<T>(options: TenantScopeOptions, work: (parts: Parts) => Promise<T>): Promise<T> {
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
  if (options.json) printJson(found.map((group) => JSON.parse(userGroupJson(group)) as unknown))
  else {
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

/** @throws UsageError where one of two options is given without the other */
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
  const seen = await withManagement(options, async ({ management, userGroups, caller }) =>
    management.view(caller, (await userGroups.show(caller, id)).teamId),
  )
  if (options.json) {
    printJson(withoutSuccess(viewResponse(seen)))
    return
  }
  const { userGroup, entries, lastIntrospectedAt, versions } = seen
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
  if (options.json) printJson(versions.map((version) => JSON.parse(versionJson(version)) as unknown))
  else {
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
    if (version === undefined) throw new CommandError(`the user group "${id}" was never changed`)
    return management.restoreVersion(caller, { teamId, revision }, version)
  })
  if (options.json) printJson(JSON.parse(userGroupJson(restored)))
  else console.error(`The user group "${id}" is as it was.`)
}

async function setSuspended(id: string, suspended: boolean, options: TenantScopeOptions): Promise<void> {
  const changed = await withManagement(options, async ({ management, userGroups, caller }) => {
    const { teamId } = await userGroups.show(caller, id)
    return management.setSuspended(caller, { teamId }, suspended)
  })
  if (options.json) printJson(JSON.parse(userGroupJson(changed)))
  else console.error(`The user group "${id}" is ${suspended ? 'suspended' : 'no longer suspended'}.`)
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
  if (options.json) printJson(groups.map((group) => JSON.parse(deletedUserGroupJson(group)) as unknown))
  else {
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
  if (options.json) printJson(JSON.parse(userGroupJson(restored)))
  else console.error(`The user group "${restored.providedId}" is restored.`)
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
  if (options.json) printJson(findings.map((finding) => JSON.parse(isolationFindingJson(finding)) as unknown))
  else {
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
  if (options.json) printJson(results.map((result) => JSON.parse(promotionResultJson(result)) as unknown))
  else {
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
    throw new CommandError('not all of them could be promoted')
}

async function findLeaked({
  rotate = false,
  ...options
}: TenantScopeOptions & { rotate?: boolean }): Promise<void> {
  // On the command line others would see it.
  const token = readFileSync(0, 'utf8').trim()
  const leaked = await withManagement(options, ({ management, caller }) =>
    management.findLeaked(caller, token, rotate),
  )
  if (options.json) {
    printJson(withoutSuccess(leakedTokenResponse(leaked)))
    return
  }
  if (leaked.kind === 'unknown') {
    console.error(`It is no token of the environment ${options.environment} in this workspace.`)
    return
  }
  const owner =
    leaked.kind === 'api_token'
      ? `the API token ${leaked.apiToken.id} "${leaked.apiToken.name}"`
      : `the user group "${leaked.userGroup.providedId}"`
  const state = leaked.works ? 'works' : 'does not work'
  const stopped =
    leaked.kind === 'api_token'
      ? 'It is revoked.'
      : leaked.rotated
        ? 'The user group has another one now.'
        : 'It is stopped.'
  console.error(
    `It is of ${owner}, and ${rotate ? `${leaked.works ? 'worked' : 'did not work'}. ${stopped}` : `${state}.`}`,
  )
}

/** An answer of the API, less what tells that it is one. */
function withoutSuccess(response: string): unknown {
  const fields = JSON.parse(response) as Record<string, unknown>
  delete fields.success
  return fields
}
