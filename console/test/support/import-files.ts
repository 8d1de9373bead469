import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '../../../server/test/support/service.ts'
import type { Scope } from '../../../server/test/support/scope.ts'

/** Writes a temporary file to import and returns its path. */
export function importFile(t: Scope, name: string, text: string): string {
  const path = join(temporaryFolder(t), name)
  writeFileSync(path, text)
  return path
}

/** Returns NDJSON with this many rows, every hundredth of them invalid, and the numbers of the invalid lines. */
export function rowsWithFaults(prefix: string, count: number): { text: string; badLines: number[] } {
  const badLines: number[] = []
  const rows = Array.from({ length: count }, (_, i) => {
    const line = i + 1
    const id = `${prefix}-${line}`
    if (line % 100 !== 50)
      return JSON.stringify({ user_group_id: id, name: `Example customer ${line}`, mapping: { sales: 'eu' } })
    badLines.push(line)
    return badRows[badLines.length % badRows.length]?.(id) ?? ''
  })
  return { text: `${rows.join('\n')}\n`, badLines }
}

const badRows: readonly ((id: string) => string)[] = [
  (id) => JSON.stringify({ user_group_id: id, name: 42 }),
  (id) => JSON.stringify({ user_group_id: id, name: 'x', mapping: { sales: null } }),
  (id) => JSON.stringify({ user_group_id: id, name: 'x', unknown: true }),
  (id) => `{"user_group_id":"${id}","name":`,
  () => JSON.stringify({ name: 'Nobody' }),
]
