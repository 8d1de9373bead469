import { Argument, Option, type Command } from 'commander'
import {
  findingKinds,
  findingStatuses,
  maxAffected,
  type FindingKind,
  type FindingStatus,
} from '../domain/user-group/isolation-finding.ts'
import { actions, type ResponseOf } from './management.ts'
import { formatOption, parseName, sinceOption, tenantScopeCommand, untilOption } from './options.ts'
import type { TenantScopeOptions } from './with-store.ts'

interface SearchOptions extends TenantScopeOptions {
  readonly kind?: FindingKind
  readonly status?: FindingStatus
  readonly since?: string
  readonly until?: string
}

interface AcceptOptions extends TenantScopeOptions {
  readonly reason: string
}

interface FindingName {
  readonly kind: FindingKind
  readonly schema: string
  readonly data_source: string
}

const { exports, lists, runs } = actions({
  load: async () =>
    (await import('../http/admin/isolation-findings/operations.ts')).isolationFindingOperations,
})

export function addIsolationFindingCommands(program: Command): void {
  const finding = program
    .command('isolation-finding')
    .description('List, accept and reopen mappings that may show data to the wrong customers, or none.')
  addSearch(
    finding,
    'list',
    'List shared data sources, mappings that name nothing registered, and schemas mapped twice.',
  ).action(
    lists(
      'listIsolationFindings',
      'findings',
      [
        'kind',
        'schema',
        'data_source',
        'status',
        'changed_at',
        ['AFFECTED', ({ affected }) => affectedText(affected)],
        [
          'USER_GROUPS',
          ({ user_groups: first, affected: { count } }) =>
            first.map(({ provided_id }) => provided_id).join(', ') + (count > first.length ? ', …' : ''),
        ],
        ['REASON', ({ acceptance }) => acceptance?.reason],
      ],
      (options: SearchOptions) => ({ query: queryOf(options) }),
    ),
  )
  addSearch(finding, 'export', 'Write findings to standard output.')
    .addOption(formatOption())
    .action(
      exports('exportIsolationFindings', ({ format, ...options }: SearchOptions & { format: string }) => ({
        ...queryOf(options),
        format,
      })),
    )
  commandOnOne(
    finding,
    'accept',
    `Accept a finding until other user groups are affected. More than ${maxAffected} stay accepted as long as there are more than ${maxAffected}.`,
  )
    .requiredOption('--reason <reason>', 'why it is intended', parseName)
    .action(onOne<AcceptOptions>(accept))
  commandOnOne(finding, 'reopen', 'End the acceptance of a finding.').action(
    onOne<TenantScopeOptions>(reopen),
  )
}

function addSearch(parent: Command, name: string, description: string): Command {
  return tenantScopeCommand(parent, name, description)
    .addOption(new Option('--kind <kind>', 'only of this kind').choices(findingKinds))
    .addOption(new Option('--status <status>', 'only with this status').choices(findingStatuses))
    .addOption(sinceOption())
    .addOption(untilOption())
}

const queryOf = ({ kind, status, since, until }: SearchOptions) => ({ kind, status, since, until })

function commandOnOne(parent: Command, name: string, description: string): Command {
  return tenantScopeCommand(parent, name, description)
    .addArgument(new Argument('<kind>', 'kind from `ugs isolation-finding list`').choices(findingKinds))
    .argument('<schema>', 'schema of the finding')
    .argument('<data_source>', 'data source of the finding')
}

const onOne =
  <Options extends TenantScopeOptions>(
    action: (...args: [finding: FindingName, options: Options, command: Command]) => Promise<void>,
  ) =>
  (kind: FindingKind, schema: string, data_source: string, options: Options, command: Command) =>
    action({ kind, schema, data_source }, options, command)

const accept = runs(
  'acceptIsolationFinding',
  async ({ reason }: AcceptOptions, { kind, schema, data_source }: FindingName, { services, caller }) => {
    const key = { kind, entry: [schema, data_source] } as const
    const { version } = (await services.isolationCheck.find(caller, key)).affected
    return { body: { kind, schema, data_source, version, reason } }
  },
  ({ finding: json }) => ({ json, message: `Accepted. It has ${affectedText(json.affected)} user groups.` }),
)

const reopen = runs(
  'reopenIsolationFinding',
  (_options: TenantScopeOptions, body: FindingName) => ({ body }),
  (json) => ({ json, message: 'Reopened.' }),
)

type Affected = ResponseOf<'acceptIsolationFinding'>['finding']['affected']

const affectedText = ({ count, is_exact: isExact }: Affected) => `${count}${isExact ? '' : '+'}`
