import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readRows } from '../../../support/bulk.ts'

for (const [title, format, start, line] of [
  ['refused rows', 'ndjson', '', 'x\n'],
  ['blank lines', 'ndjson', '', '\n'],
  ['refused rows of CSV', 'csv', 'user_group_id,properties\n', 'a,{\n'],
  ['blank lines of CSV', 'csv', 'user_group_id\n', '\n'],
] as const) {
  test(`an import of many ${title} handles other events after at most 32 lines`, async () => {
    let ticks = 0
    let immediate = setImmediate(function count() {
      ticks++
      immediate = setImmediate(count)
    })
    await readRows(format, start + line.repeat(3200))
    clearImmediate(immediate)
    assert.ok(ticks >= 100, `${ticks}`)
  })
}
