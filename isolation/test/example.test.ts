import assert from 'node:assert/strict'
import { join } from 'node:path'
import { it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createWarehouse, warehouses } from '../../examples/dashboard/warehouses/seed.js'
import { newFolder } from './databases.ts'
import { run } from './probe-command.ts'

it("proves that the example's dashboards are isolated in each of its databases", async (t) => {
  const databases = newFolder(t)
  const folder = fileURLToPath(new URL('../../examples/dashboard', import.meta.url))
  for (const { providedId } of warehouses) {
    const path = join(databases, `${providedId}.db`)
    createWarehouse(path, providedId)
    const { output, exitCode } = await run({ folder, url: `sqlite:${path}` }, ['probe'])
    assert.match(output, /^ok {5}renderer\/queries\.js#byMonth .*\nok {5}renderer\/queries\.js#byProduct /)
    assert.equal(exitCode, 0, output)
  }
})
