import { Option, type Command } from 'commander'
import { jsonValue } from '../contract/json/json-writer.ts'
import { shownAuditEvent } from '../http/admin/audit-events/responses.ts'
import { auditActions, timeOfEvent, type AuditAction } from '../domain/audit/audit-event.ts'
import { AuditLog, type AuditFilter } from '../domain/audit/audit-log.ts'
import { systemClock } from '../domain/util/clock.ts'
import { environments, type Environment } from '../domain/environment.ts'
import { operator } from '../runtime/operator.ts'
import { firstOf } from './first-of.ts'
import {
  jsonOption,
  parseCount,
  parseDuration,
  parseName,
  sinceOption,
  untilOption,
  workspaceOption,
} from './options.ts'
import { formatTime, printJson, printMessage, printTable } from './output.ts'
import { findWorkspace, withStore } from './with-store.ts'

interface ListOptions {
  workspace: string
  environment?: Environment
  since?: number
  until?: number
  userGroup?: string
  action?: AuditAction
  author?: string
  requestId?: string
  limit: number
  json?: boolean
}

export function addAuditCommands(program: Command): void {
  const audit = program.command('audit').description('Read and prune the audit log.')

  audit
    .command('list')
    .description('List changes, newest first.')
    .addOption(workspaceOption())
    .addOption(new Option('--environment <environment>', 'only in this environment').choices(environments))
    .addOption(sinceOption())
    .addOption(untilOption())
    .option('--user-group <user_group_id>', 'only of user groups that have or had this id', parseName)
    .addOption(new Option('--action <action>', 'only this action').choices(auditActions))
    .option('--author <author>', 'only by this author: api_token:ID or cli:USER', parseName)
    .option('--request-id <id>', 'only by the request whose response had this X-Request-Id', parseName)
    .option('--limit <count>', 'maximum number of events', parseCount, 100)
    .addOption(jsonOption())
    .action(list)

  audit
    .command('prune')
    .description('Delete old events of all workspaces and environments. The deletion itself is logged.')
    .requiredOption('--older-than <duration>', 'minimum age of the deleted events: 90d, 52w', parseDuration)
    .addOption(jsonOption())
    .action(prune)
}

async function list(options: ListOptions): Promise<void> {
  const { json, limit } = options
  const filter = filterOf(options)
  const events = await withStore(async (store) => {
    const workspaceId = (await findWorkspace(store, options.workspace)).id
    const auditLog = new AuditLog({ store, clock: systemClock })
    const selected = options.environment === undefined ? environments : [options.environment]
    const lists = selected.map((environment) =>
      firstOf(limit, (page) => auditLog.list({ workspaceId, environment }, filter, page)),
    )
    return (await Promise.all(lists)).flat()
  })
  const newest = events.sort((a, b) => (a.eventId < b.eventId ? 1 : -1)).slice(0, limit)
  if (json) {
    // Loaded only here: the schemas take a tenth of the CPU of a command.
    const { AuditEvent } = await import('../http/admin/audit-events/schemas.ts')
    printJson(
      newest.map((event) => ({
        api_environment_tag: event.environment,
        ...jsonValue(AuditEvent, shownAuditEvent(event)),
      })),
    )
    return
  }
  printTable(
    ['TIME', 'ENVIRONMENT', 'ACTION', 'AUTHOR', 'USER_GROUP_ID', 'REQUEST_ID', 'DETAILS'],
    newest.map((event) => [
      formatTime(timeOfEvent(event.eventId)),
      event.environment,
      event.action,
      event.author,
      event.userGroup?.providedId ?? null,
      event.requestId,
      event.details,
    ]),
  )
}

function filterOf({ since, until, userGroup, action, author, requestId }: ListOptions): AuditFilter {
  return { since, until, providedId: userGroup, action, author, requestId }
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
  if (json) printJson({ pruned })
  else printMessage(`Deleted ${pruned} ${pruned === 1 ? 'event' : 'events'}.`)
}
