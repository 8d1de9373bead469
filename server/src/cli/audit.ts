import { InvalidArgumentError, Option, type Command } from 'commander'
import { auditEventJson } from '../http/admin/audit-events/responses.ts'
import { auditActions, timeOfEvent, type AuditAction } from '../domain/audit/audit-event.ts'
import { AuditLog, type AuditFilter } from '../domain/audit/audit-log.ts'
import { systemClock } from '../domain/util/clock.ts'
import { environments, type Environment } from '../domain/environment.ts'
import { parseTimestamp } from '../domain/util/timestamp.ts'
import { operator } from '../runtime/operator.ts'
import { firstOf } from './first-of.ts'
import { jsonOption, parseCount, parseDuration, parseName, workspaceOption } from './options.ts'
import { formatTime, printJson, printTable } from './output.ts'
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
  const audit = program.command('audit').description('Look at what was changed, and by whom.')

  audit
    .command('list')
    .description('List what was changed, the newest first.')
    .addOption(workspaceOption())
    .addOption(new Option('--environment <environment>', 'only of this one').choices(environments))
    .option(
      '--since <time>',
      'from then on: a time such as 2026-11-21T20:15:53Z, or how long ago: 24h',
      parseTime,
    )
    .option('--until <time>', 'before then', parseTime)
    .option('--user-group <user_group_id>', 'of the user group that has this id, or had it', parseName)
    .addOption(new Option('--action <action>', 'only this').choices(auditActions))
    .option('--author <author>', 'only by this one: api_token:ID or cli:USER', parseName)
    .option('--request-id <id>', 'only in the request that was answered with this X-Request-Id', parseName)
    .option('--limit <count>', 'how many at most', parseCount, 100)
    .addOption(jsonOption())
    .action(list)

  audit
    .command('prune')
    .description('Remove old events, of all workspaces and environments. That they were is an event.')
    .requiredOption('--older-than <duration>', 'what is older goes: 90d, 52w', parseDuration)
    .addOption(jsonOption())
    .action(prune)
}

/** @throws InvalidArgumentError */
function parseTime(text: string): number {
  const timestamp = parseTimestamp(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text)
  if (timestamp !== null) return timestamp
  try {
    return Date.now() - parseDuration(text)
  } catch {
    throw new InvalidArgumentError(
      'It must be a time, such as 2026-11-21T20:15:53Z, or how long ago: 30s, 15m, 12h, 90d or 2w.',
    )
  }
}

async function list(options: ListOptions): Promise<void> {
  const { json, limit } = options
  const filter = filterOf(options)
  const events = await withStore(async (store) => {
    const workspaceId = (await findWorkspace(store, options.workspace)).id
    const auditLog = new AuditLog({ store, clock: systemClock })
    const wanted = options.environment === undefined ? environments : [options.environment]
    const lists = wanted.map((environment) =>
      firstOf(limit, (page) => auditLog.list({ workspaceId, environment }, filter, page)),
    )
    return (await Promise.all(lists)).flat()
  })
  const shown = events.sort((a, b) => (a.eventId < b.eventId ? 1 : -1)).slice(0, limit)
  if (json) {
    printJson(
      shown.map((event) => ({
        api_environment_tag: event.environment,
        ...(JSON.parse(auditEventJson(event)) as object),
      })),
    )
    return
  }
  printTable(
    ['TIME', 'ENVIRONMENT', 'ACTION', 'AUTHOR', 'USER_GROUP_ID', 'REQUEST_ID', 'DETAILS'],
    shown.map((event) => [
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
  else console.error(`Removed ${pruned} ${pruned === 1 ? 'event' : 'events'}.`)
}
