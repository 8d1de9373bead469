import { InvalidArgumentError, Option, type Command } from 'commander'
import { actions, type ResponseOf } from './management.ts'
import { parseCount, parseName, tenantScopeCommand } from './options.ts'
import type { Column } from './output.ts'
import type { TenantScopeOptions } from './with-store.ts'

const resource = {
  load: async () => (await import('../http/admin/usage/operations.ts')).usageOperations,
}

const { exports, lists, runs } = actions(resource)

type Usage = ResponseOf<'listUsage'>['usage'][number]
type Grouping = keyof typeof columns

interface UsageOptions extends TenantScopeOptions {
  readonly month?: string
}

interface ListOptions extends UsageOptions {
  readonly by: Grouping
  readonly teamId?: string
  readonly limit?: number
}

const seen = ['active_days', 'last_seen_at'] as const
const userGroup = ['team_id', 'provided_id', 'name'] as const

/** Columns of the tables, by grouping. */
const columns = {
  user_group: [...userGroup, 'viewers', 'viewer_days', ...seen],
  viewer: [...userGroup, 'viewer_id', ...seen],
  resource: ['resource', 'user_groups', 'viewers', 'viewer_days', ...seen],
  day: ['day', 'user_groups', 'viewers'],
} as const satisfies Record<string, readonly Column<Usage>[]>

export function addUsageCommands(program: Command): void {
  const usage = program.command('usage').description('Show, export and erase who looked on which days.')

  withMonth(tenantScopeCommand(usage, 'list', 'List who looked in a month.'))
    .addOption(
      new Option('--by <grouping>', 'what to list').choices(Object.keys(columns)).default('user_group'),
    )
    .option('--team-id <ids>', 'only these user groups: team ids, separated by commas')
    .option('--limit <count>', 'maximum number of rows', parseCount)
    .action((options: ListOptions, command: Command) =>
      lists('listUsage', 'usage', columns[options.by], ({ month, by, teamId }: ListOptions) => ({
        query: { month, by, team_id: teamId },
      }))(options, command),
    )

  withMonth(
    tenantScopeCommand(usage, 'export', 'Write the user groups that looked in a month as CSV.'),
  ).action(exports('exportUsage', ({ month }: UsageOptions) => ({ month, format: 'csv' })))

  tenantScopeCommand(usage, 'erase', 'Erase what is recorded of a viewer, in all months.')
    .argument('<viewer_id>', 'your id of the viewer', parseName)
    .option('--team-id <id>', 'only in this user group', parseCount)
    .action(
      runs(
        'eraseUsage',
        ({ teamId }: TenantScopeOptions & { teamId?: number }, viewerId: string) => ({
          query: { viewer_id: viewerId, ...(teamId !== undefined && { team_id: String(teamId) }) },
        }),
        (json) => ({ json, message: `Erased ${json.deleted} ${json.deleted === 1 ? 'row' : 'rows'}.` }),
      ),
    )
}

function withMonth(command: Command): Command {
  return command.option(
    '--month <month>',
    'month in UTC, such as 2026-11 (default: the current one)',
    monthOption,
  )
}

function monthOption(text: string): string {
  if (/^2\d{3}-(0[1-9]|1[0-2])$/.test(text)) return text
  throw new InvalidArgumentError('It must be a month, such as 2026-11.')
}
