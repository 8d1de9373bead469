import { PageLimit } from '../fields.ts'
import type { AdminOperation } from '../operation.ts'
import { cursorOf, limitOf, positionOf } from '../pages.ts'
import { shownFinding } from './responses.ts'
import { IsolationResponse } from './schemas.ts'

export const isolationFindingOperations = {
  listIsolationFindings: {
    tag: 'User group management',
    method: 'GET',
    path: '/isolation-findings',
    summary: 'List user groups that share a data source or are mapped to none',
    description: 'Shared data sources come first.',
    query: PageLimit,
    response: IsolationResponse,
    handle: async ({ caller, query }, { management }) => {
      const { cursor, ...page } = query as PageLimit
      const { items, position } = await management.findIsolationFindings(caller, {
        position: positionOf(cursor, isIsolationPosition),
        limit: limitOf(page),
      })
      return { body: { findings: items.map(shownFinding), nextCursor: cursorOf(position) } }
    },
  },
} as const satisfies Record<string, AdminOperation>

/** Returns true if a text has the form of a position of `findIsolationFindings`. */
function isIsolationPosition(text: string): boolean {
  try {
    const { dataSource, entry } = JSON.parse(text) as { dataSource?: unknown; entry?: unknown }
    const isEntry =
      Array.isArray(entry) &&
      entry.length === 2 &&
      entry.every((key) => typeof key === 'string' && !key.includes('\0'))
    return Number.isSafeInteger(dataSource) || (dataSource === undefined && (entry === null || isEntry))
  } catch {
    return false
  }
}
