import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { mutations } from '../../../scripts/mutations.js'

test('each mutation changes one place of a source', () => {
  const root = fileURLToPath(new URL('../../../', import.meta.url))
  const countOf = ({ file, from }: (typeof mutations)[number]) =>
    readFileSync(root + file, 'utf8').split(from).length - 1
  assert.deepEqual(
    mutations.filter((mutation) => countOf(mutation) !== 1),
    [],
  )
})
