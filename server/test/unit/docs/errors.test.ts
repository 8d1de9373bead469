import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errorTable } from '../../../src/contract/errors.ts'
import { readPage, readTable } from '../../docs/support.ts'

test('docs/api.md lists all error codes with their status, and no others', () => {
  const rows = readTable(readPage('docs/api.md'), '## Errors')
  assert.deepEqual(
    Object.fromEntries(rows.map(([status, code = '']) => [code.replaceAll('`', ''), Number(status)])),
    Object.fromEntries(Object.entries(errorTable).map(([code, { status }]) => [code, status])),
  )
  for (const [, code, when, whatToDo] of rows) assert.ok(when && whatToDo, `${code} lacks an explanation`)
})
