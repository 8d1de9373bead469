import { readFileSync } from 'node:fs'
import { Option, type Command } from 'commander'
import type { TokenlessUserGroup } from '../domain/user-group/user-group.ts'
import { sortFields } from '../domain/user-group/user-group-search-store.ts'
import { addCriteria, criteriaOf, type CriteriaOptions } from './criteria.ts'
import { CommandError } from './errors.ts'
import { actions, responseOf, type Management, type ResponseOf } from './management.ts'
import { jsonOption, parseCount, tenantScopeCommand, userGroupCommand, workspaceOption } from './options.ts'
import { fieldTable, shortTime, tableOf, type Output } from './output.ts'
import type { TenantScopeOptions } from './with-store.ts'

type SearchOptions = TenantScopeOptions &
  CriteriaOptions & { readonly sort?: string; readonly descending?: boolean; readonly limit: number }

type PromoteOptions = TenantScopeOptions & { dryRun?: boolean }
type RotateOption = TenantScopeOptions & { rotate?: boolean }

export const userGroups = {
  load: async () => ({
    ...(await import('../http/admin/user-groups/operations.ts')).userGroupOperations,
    ...(await import('../http/admin/promotions/operations.ts')).promotionOperations,
    ...(await import('../http/admin/leaked-tokens/operations.ts')).leakedTokenOperations,
  }),
  usesSecretKeys: true,
} as const

const { runs, lists } = actions(userGroups)

/** Returns a user group as the API shows it. */
export async function shownUserGroup(
  userGroup: TokenlessUserGroup,
): Promise<ResponseOf<'getUserGroup'>['user_group']> {
  return responseOf<'getUserGroup'>((await userGroups.load()).getUserGroup, { userGroup }).user_group
}

/** Adds the user group operations of `/admin/v1` as commands. `--json` prints the same fields as the API. */
export function addUserGroupManagementCommands(userGroup: Command): void {
  addSearches(userGroup)
  addCommandsOnOne(userGroup)
  addOtherCommands(userGroup)
}

function addSearches(userGroup: Command): void {
  const command = (name: string, description: string) => tenantScopeCommand(userGroup, name, description)
  addCriteria(command('search', 'Find user groups by their fields.'))
    .addOption(new Option('--sort <field>', 'order').choices(sortFields))
    .option('--descending', 'reverse the order; requires --sort')
    .option('--limit <count>', 'maximum number of user groups', parseCount, 100)
    .action(
      lists(
        'searchUserGroups',
        'user_groups',
        ['team_id', 'provided_id', 'name', 'updated_at', 'suspended_at'],
        ({ sort, descending, ...options }: SearchOptions) => ({
          query: { ...criteriaOf(options), sort, order: descending ? 'desc' : undefined },
        }),
      ),
    )
  command('list-deleted', 'List user groups deleted in the last 30 days.').action(
    lists('listDeletedUserGroups', 'user_groups', [
      'team_id',
      'provided_id',
      'name',
      'deleted_at',
      'deleted_by',
    ]),
  )
}

function addCommandsOnOne(userGroup: Command): void {
  const command = (name: string, description: string) => userGroupCommand(userGroup, name, description)
  command('view', 'Show the variables, data sources and last changes of a user group.').action(
    runs('viewUserGroup', byProvidedId, viewed),
  )
  command('versions', 'List the earlier versions of a user group.').action(
    lists(
      'listUserGroupVersions',
      'versions',
      ['revision', 'updated_at', 'updated_by', 'name', 'mapping', 'properties'],
      byProvidedId,
    ),
  )
  command('undo', 'Revert name, mapping and properties to an earlier version.')
    .option('--revision <revision>', 'revision of the version (default: the previous one)', parseCount)
    .action(
      runs('restoreUserGroupVersion', undoneVersion, ({ user_group: json }, id) => ({
        json,
        message: `Reverted user group "${id}".`,
      })),
    )
  command('suspend', 'Make the tokens of a user group inactive for the renderer.').action(
    runs('suspendUserGroup', byProvidedId, ({ user_group: json }, id) => ({
      json,
      message: `Suspended user group "${id}".`,
    })),
  )
  command('resume', 'Make the tokens of a suspended user group active again.').action(
    runs('resumeUserGroup', byProvidedId, ({ user_group: json }, id) => ({
      json,
      message: `Resumed user group "${id}".`,
    })),
  )
}

function addOtherCommands(userGroup: Command): void {
  const command = (name: string, description: string) => tenantScopeCommand(userGroup, name, description)
  command('restore', 'Restore a deleted user group and its token.')
    .argument('<team_id>', 'id from `ugs user-group list-deleted`', parseCount)
    .action(
      runs('restoreDeletedUserGroup', byTeamId, ({ user_group: json }) => ({
        json,
        message: `Restored user group "${json.provided_id}".`,
      })),
    )
  command(
    'erase',
    'Erase a deleted user group at once, with its usage, versions and details in the audit log.',
  )
    .argument('<team_id>', 'id from `ugs user-group list-deleted`', parseCount)
    .action(
      runs('eraseUserGroup', byTeamId, (json) => ({
        json,
        table: erasureTable(json),
        message: `Erased user group ${json.team_id}.`,
      })),
    )
  userGroup
    .command('promote')
    .description('Copy name, mapping and properties of user groups from Testing to Customer.')
    .argument('<user_group_id...>', 'your ids of the user groups')
    .option('--dry-run', 'report changes without making them')
    .addOption(workspaceOption())
    .addOption(jsonOption())
    .action((ids: string[], options: PromoteOptions, command: Command) =>
      promote(ids, { ...options, environment: 'Customer' }, command),
    )
  command('whose-token', 'Read a token from standard input and show its owner and whether it works.')
    .option('--rotate', 'stop the token: replace a user group token, revoke an API token')
    .action(
      runs(
        'reportLeakedToken',
        // Command-line arguments are visible to other users of the machine.
        ({ rotate }: RotateOption) => ({ body: { token: readFileSync(0, 'utf8').trim(), rotate } }),
        (json, _, options) => ({ json, message: leakMessage(json, options) }),
      ),
    )
}

const byTeamId = (_options: TenantScopeOptions, team_id: number) => ({ params: { team_id } })

async function byProvidedId(
  _options: TenantScopeOptions,
  id: string,
  { services, caller }: Management<never>,
) {
  const { teamId } = await services.userGroups.show(caller, id)
  return { params: { team_id: teamId } }
}

function viewed(json: ResponseOf<'viewUserGroup'>): Output {
  const { user_group: group, data_sources, token, last_introspected_at, versions } = json
  const table = fieldTable([
    ['user_group.provided_id', group.provided_id],
    ['user_group.name', group.name],
    ['user_group.properties', group.properties],
    ...data_sources.map(({ schema, data_source, registered }): [string, string] => [
      `schema ${schema}`,
      registered === null
        ? `${data_source} (not registered)`
        : `${registered.provided_id} "${registered.name}" (${registered.id})`,
    ]),
    ['token', token.active ? 'active' : 'suspended'],
    ['last introspected', shortTime(last_introspected_at)],
    ['last changed', `${shortTime(group.updated_at)} by ${group.updated_by ?? 'unknown'}`],
    ['versions', versions.map(({ revision }) => revision).join(', ')],
  ])
  return { json, table }
}

async function undoneVersion(
  options: TenantScopeOptions & { revision?: number },
  id: string,
  management: Management<'listUserGroupVersions'>,
) {
  const { params } = await byProvidedId(options, id, management)
  if (options.revision !== undefined) return { params: { ...params, revision: options.revision } }
  const { versions } = await management.call('listUserGroupVersions', { params })
  if (versions[0] === undefined) throw new CommandError(`user group "${id}" has no earlier version`)
  return { params: { ...params, revision: versions[0].revision } }
}

const promote = runs(
  'promoteUserGroups',
  ({ dryRun }: PromoteOptions, ids: string[]) => ({ body: { user_group_ids: ids, dry_run: dryRun } }),
  ({ results }) => ({
    json: results,
    table: tableOf(
      [
        'provided_id',
        'outcome',
        [
          'DIFFERENT',
          ({ message, differences }) => message ?? differences.map(({ path }) => path).join(', '),
        ],
        ['NOTE', noteOf],
      ],
      results,
    ),
    failure: results.some(({ outcome }) => outcome === 'refused' || outcome === 'not_found')
      ? 'some user groups could not be promoted'
      : undefined,
  }),
)

/** Says what a promotion does with a suspension and with unresolved mapping entries. */
function noteOf({
  outcome,
  suspended,
  unresolved_entries: unresolved,
}: ResponseOf<'promoteUserGroups'>['results'][number]): string {
  const notes = [
    suspended.in_customer && 'stays suspended in Customer',
    suspended.in_testing && !suspended.in_customer && 'suspended in Testing only: active in Customer',
    unresolved > 0 && outcome !== 'refused' && `unresolved in Customer: ${unresolved}`,
  ]
  return notes.filter((note) => note !== false).join('; ')
}

function leakMessage(
  leaked: ResponseOf<'reportLeakedToken'>,
  { environment, rotate = false }: RotateOption,
): string {
  if (leaked.kind === 'unknown') return `The environment ${environment} of this workspace has no such token.`
  const [owner, stopped] = leakedOwner(leaked)
  const token = `an ${leaked.works ? 'active' : 'inactive'} ${owner}`
  return rotate ? `It was ${token}. It is now ${stopped}.` : `It is ${token}.`
}

/** Returns the owner of a leaked token and what became of the token if it was stopped. */
function leakedOwner(
  leaked: Exclude<ResponseOf<'reportLeakedToken'>, { kind: 'unknown' }>,
): readonly [string, string] {
  if (leaked.kind === 'api_token')
    return [`API token ${leaked.api_token.id} "${leaked.api_token.name}"`, 'revoked']
  const userGroup = `user group "${leaked.user_group.provided_id}"`
  return leaked.kind === 'viewer_session'
    ? [`session of viewer "${leaked.viewer_id}" of ${userGroup}`, 'over, as are all sessions of this viewer']
    : [`token of ${userGroup}`, leaked.rotated ? 'replaced' : 'stopped']
}

function erasureTable({ erased, retained }: ResponseOf<'eraseUserGroup'>) {
  return fieldTable([
    ...Object.entries(erased).map(([name, count]) => [`erased ${name}`, count] as const),
    ...retained.map(({ place, message }) => [`retained in ${place}`, message] as const),
  ])
}
