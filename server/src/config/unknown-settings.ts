import { settings } from './settings.ts'

/** Variables of the clients in the documentation. A shell may have exported them. */
const clientVariables = ['UGS_API_TOKEN', 'UGS_URL']

interface UnknownSetting {
  readonly name: string
  /** Setting with the nearest name. */
  readonly nearest: string
}

/** Returns the `UGS_*` variables that are not settings. An empty variable counts as unset. */
export function findUnknownSettings(environment: Record<string, string | undefined>): UnknownSetting[] {
  return Object.keys(environment)
    .filter((name) => name.startsWith('UGS_') && environment[name] !== '')
    .filter((name) => !(name in settings) && !clientVariables.includes(name))
    .map((name) => ({ name, nearest: nearestSetting(name) }))
}

function nearestSetting(name: string): string {
  const distances = Object.keys(settings).map((setting) => ({
    setting,
    // Without the prefix, UGS_PORT is nearest to PORT.
    distance: editDistance(withoutPrefix(name), withoutPrefix(setting)),
  }))
  return distances.reduce((best, other) => (other.distance < best.distance ? other : best)).setting
}

function withoutPrefix(name: string): string {
  return name.replace(/^UGS_/, '')
}

/** Returns the Levenshtein distance: the least number of characters to insert, delete or replace. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (let index = 0; index < from.length; index++) {
    const next = [index + 1]
    for (let column = 1; column <= to.length; column++) {
      const replaced = (row[column - 1] as number) + (from[index] === to[column - 1] ? 0 : 1)
      next.push(Math.min(replaced, (row[column] as number) + 1, (next[column - 1] as number) + 1))
    }
    row = next
  }
  return row[to.length] as number
}
