import { InvalidArgumentError, Option, type Command } from 'commander'
import { visibleText } from '../contract/patterns.ts'
import { environments } from '../domain/environment.ts'
import { parseId } from '../domain/util/id.ts'
import { parseTimestamp } from '../domain/util/timestamp.ts'
import { defaultWorkspaceName } from '../domain/workspace/workspace.ts'

export const workspaceOption = () =>
  new Option('--workspace <name>', 'workspace').default(defaultWorkspaceName)

export const environmentOption = () =>
  new Option('--environment <environment>', 'environment').choices(environments).makeOptionMandatory()

export const jsonOption = () => new Option('--json', 'write JSON to standard output')

/** Format of an export to standard output. */
export const formatOption = () =>
  new Option('--format <format>', 'format of the rows').choices(['csv', 'ndjson']).default('csv')

export const sinceOption = () =>
  new Option(
    '--since <time>',
    'at or after a time, such as 2026-11-21T20:15:53Z, or a duration ago, such as 24h',
  ).argParser(parseTime)

export const untilOption = () =>
  new Option('--until <time>', 'before a time or a duration ago').argParser(parseTime)

/** Adds a command for one workspace and environment. */
export function tenantScopeCommand(parent: Command, name: string, description: string): Command {
  return parent
    .command(name)
    .description(description)
    .addOption(environmentOption())
    .addOption(workspaceOption())
    .addOption(jsonOption())
}

/** Adds a command for one user group. */
export function userGroupCommand(parent: Command, name: string, description: string): Command {
  return tenantScopeCommand(parent, name, description).argument(
    '<user_group_id>',
    'your id of the user group',
  )
}

const unitsMs = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }

/** Returns a parser of an argument from one that throws a RangeError whose message continues "It". */
export function argument<Value>(parse: (text: string) => Value): (text: string) => Value {
  return (text) => {
    try {
      return parse(text)
    } catch (error) {
      throw error instanceof RangeError ? new InvalidArgumentError(`It ${error.message}.`) : error
    }
  }
}

/** Parses `30s`, `15m`, `12h`, `90d` or `2w` to milliseconds. */
export function parseDuration(text: string): number {
  const [, count, unit] = /^([1-9]\d{0,5})([smhdw])$/.exec(text) ?? []
  if (count === undefined) {
    throw new InvalidArgumentError('It must be a number and a unit: 30s, 15m, 12h, 90d or 2w.')
  }
  return Number(count) * unitsMs[unit as keyof typeof unitsMs]
}

/** Returns a parser of durations to seconds. `max` is a duration such as `30d`. */
export function secondsUpTo(max: string): (text: string) => number {
  return (text) => {
    const ms = parseDuration(text)
    if (ms > parseDuration(max)) throw new InvalidArgumentError(`It must be at most ${max}.`)
    return ms / 1000
  }
}

/** Returns a time in RFC 3339. */
function parseTime(text: string): string {
  const time = /^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text
  if (parseTimestamp(time) !== null) return time
  try {
    return new Date(Date.now() - parseDuration(text)).toISOString()
  } catch {
    throw new InvalidArgumentError(
      'It must be a time, such as 2026-11-21T20:15:53Z, or a duration: 30s, 15m, 12h, 90d or 2w.',
    )
  }
}

/** Accepts a name or id of 1 to 255 characters, one of them visible, without control characters and U+FFFF. */
export function parseName(text: string): string {
  if (!/^[^\p{Cc}\uffff]{1,255}$/u.test(text) || !visibleText.test(text)) {
    throw new InvalidArgumentError(
      'It must be 1 to 255 characters, at least one of them visible, without control characters.',
    )
  }
  return text
}

/** Parses a count or an id. */
export function parseCount(text: string): number {
  const count = parseId(text)
  if (count === null)
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${Number.MAX_SAFE_INTEGER}.`)
  return count
}
