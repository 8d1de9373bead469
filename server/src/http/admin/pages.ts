import { validationFailed } from '../../domain/fault.ts'
import { parseId } from '../../domain/util/id.ts'
import type { PageLimit } from './fields.ts'

const defaultLimit = 50
const maxLimit = 200

/** Returns a page of a list that is ordered by id. The cursor is null on the last page. */
export async function pageById<T>(
  query: PageLimit,
  list: (position: { afterId: number | null; limit: number }) => Promise<readonly T[]>,
  idOf: (item: T) => number,
): Promise<{ readonly items: readonly T[]; readonly nextCursor: string | null }> {
  const limit = limitOf(query)
  const position = positionOf(query.cursor, isId)
  const items = await list({ afterId: position === null ? null : Number(position), limit })
  const last = items.at(-1)
  const next = last !== undefined && items.length === limit ? String(idOf(last)) : null
  return { items, nextCursor: cursorOf(next) }
}

/** @throws Fault `validation_failed` */
export function limitOf({ limit = String(defaultLimit) }: { limit?: string }): number {
  if (Number(limit) <= maxLimit) return Number(limit)
  throw validationFailed([{ path: '/limit', message: `must be from 1 to ${maxLimit}` }])
}

/** Encodes a position in a list. Cursors are opaque to clients, so that their content may change. */
export function cursorOf(position: string | null): string | null {
  return position === null ? null : Buffer.from(position).toString('base64url')
}

/**
 * Decodes a cursor.
 * @param isPosition returns whether a text is a position in this list
 * @throws Fault `validation_failed` if no response contained this cursor
 */
export function positionOf(
  cursor: string | undefined,
  isPosition: (position: string) => boolean,
): string | null {
  if (cursor === undefined) return null
  const position = Buffer.from(cursor, 'base64url').toString()
  if (cursorOf(position) === cursor && !position.includes('\0') && isPosition(position)) return position
  throw validationFailed([
    { path: '/cursor', message: 'must be the next_cursor of a response to the same search' },
  ])
}

export function isId(position: string): boolean {
  return parseId(position) !== null
}
