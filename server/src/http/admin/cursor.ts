import { validationFailed } from '../../domain/fault.ts'

/** A position in a list as the `next_cursor` of an answer: opaque, so that it may change its shape. */
export function cursorOf(position: string | null): string | null {
  return position === null ? null : Buffer.from(position).toString('base64url')
}

/**
 * @param isPosition whether a text is a position in this list
 * @throws Fault `validation_failed` where it is not what an answer had
 */
export function positionOf(
  cursor: string | undefined,
  isPosition: (position: string) => boolean,
): string | null {
  if (cursor === undefined) return null
  const position = Buffer.from(cursor, 'base64url').toString()
  if (cursorOf(position) === cursor && !position.includes('\0') && isPosition(position)) return position
  throw validationFailed([
    { path: '/cursor', message: 'is not the next_cursor of an answer to the same search' },
  ])
}

export function isId(position: string): boolean {
  return /^\d{1,15}$/.test(position)
}
