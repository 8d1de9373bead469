import { Option, type Command } from 'commander'
import { auditActions, type AuditAction } from '../domain/audit/audit-event.ts'
import { environments, type Environment } from '../domain/environment.ts'
import { operator } from '../runtime/operator.ts'
import { actions, Management, type ResponseOf } from './management.ts'
import {
  formatOption,
  jsonOption,
  parseCount,
  parseDuration,
  parseName,
  sinceOption,
  tenantScopeCommand,
  untilOption,
  workspaceOption,
} from './options.ts'
import { printOutput, tableOf } from './output.ts'
import { callerOf, withStore, type TenantScopeOptions } from './with-store.ts'

interface SearchOptions {
  since?: string
  until?: string
  userGroup?: string
  action?: AuditAction
  author?: string
  requestId?: string
}

interface ListOptions extends SearchOptions {
  workspace: string
  environment?: Environment
  limit: number
  json?: boolean
}

type ExportOptions = SearchOptions & TenantScopeOptions & { format: string }

const resource = {
  load: async () => (await import('../http/admin/audit-events/operations.ts')).auditEventOperations,
}

type AuditEvent = ResponseOf<'listAuditEvents'>['audit_events'][number]

export function addAuditCommands(program: Command): void {
  const audit = program.command('audit').description('Read and prune the audit log.')

  addSearch(
    audit
      .command('list')
      .description('List changes, newest first.')
      .addOption(workspaceOption())
      .addOption(new Option('--environment <environment>', 'only in this environment').choices(environments)),
  )
    .option('--limit <count>', 'maximum number of events', parseCount, 100)
    .addOption(jsonOption())
    .action(list)

  addSearch(
    tenantScopeCommand(
      audit,
      'export',
      'Write changes to standard output, newest first. The export itself is logged.',
    ),
  )
    .addOption(formatOption())
    .action(
      actions(resource).exports('exportAuditEvents', ({ format, ...options }: ExportOptions) => ({
        ...queryOf(options),
        format,
      })),
    )

  audit
    .command('prune')
    .description('Delete old events of all workspaces and environments. The deletion itself is logged.')
    .requiredOption('--older-than <duration>', 'minimum age of the deleted events: 90d, 52w', parseDuration)
    .addOption(jsonOption())
    .action(prune)
}

function addSearch(command: Command): Command {
  return command
    .addOption(sinceOption())
    .addOption(untilOption())
    .option('--user-group <user_group_id>', 'only of user groups that have or had this id', parseName)
    .addOption(new Option('--action <action>', 'only this action').choices(auditActions))
    .option(
      '--author <author>',
      'only by this author: api_token:ID, person:ID, cli:USER, or cli: for all of the command line',
      parseName,
    )
    .option('--request-id <id>', 'only by the request whose response had this X-Request-Id', parseName)
}

function queryOf({ userGroup, requestId, since, until, action, author }: SearchOptions) {
  return { since, until, action, author, user_group_id: userGroup, request_id: requestId }
}

async function list({ workspace, limit, json, ...options }: ListOptions): Promise<void> {
  const { environment: only } = options
  const query = queryOf(options)
  const events = await withStore(async (store) => {
    const all: (AuditEvent & { api_environment_tag: Environment })[] = []
    for (const environment of only === undefined ? environments : [only]) {
      const management = await Management.open(
        resource,
        store,
        await callerOf(store, { workspace, environment }),
      )
      const found = await management.list('listAuditEvents', 'audit_events', { query }, limit)
      all.push(...found.map((event) => ({ api_environment_tag: environment, ...event })))
    }
    return all.sort((a, b) => (a.event_id < b.event_id ? 1 : -1)).slice(0, limit)
  })
  const table = tableOf(
    [
      'occurred_at',
      'api_environment_tag',
      'action',
      'author',
      ['USER_GROUP_ID', (event) => event.user_group?.provided_id],
      'request_id',
      'client_address',
      'details',
    ],
    events,
  )
  printOutput({ json: events, table }, json)
}

async function prune({ olderThan, json }: { olderThan: number; json?: boolean }): Promise<void> {
  const now = Date.now()
  const pruned = await withStore(async (store) => {
    let total = 0
    for (const { id: workspaceId } of await store.workspaces.list()) {
      for (const environment of environments) {
        const tenantScope = { workspaceId, environment }
        total += await store.audit.prune({ ...tenantScope, before: now - olderThan, ...operator(), now })
      }
    }
    return total
  })
  const message = `Deleted ${pruned} ${pruned === 1 ? 'event' : 'events'}.`
  printOutput({ json: { pruned }, message }, json)
}
