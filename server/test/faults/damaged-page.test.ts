import assert from 'node:assert/strict'
import { closeSync, cpSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import BetterSqlite3 from 'better-sqlite3'
import { lifo } from '../support/scope.ts'
import { startNewProcess as startService, temporaryFolder, type RunningService } from '../support/service.ts'
import { Acknowledged } from './acknowledged.ts'

const pageSize = 4096

/** Returns the file offsets of the leaf pages of a table or index. */
function leafOffsets(path: string, name: string): number[] {
  const database = new BetterSqlite3(path, { readonly: true })
  const pages = database
    .prepare<[string], number>("SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY path")
    .pluck()
    .all(name)
  database.close()
  return pages.map((page) => (page - 1) * pageSize)
}

const damages: Record<string, { from: number; bytes: Buffer }> = {
  'the middle of a page': { from: 1024, bytes: Buffer.alloc(2048, 0xff) },
  'the header of a page': { from: 0, bytes: Buffer.alloc(16, 0xff) },
  'a whole page, with zeros': { from: 0, bytes: Buffer.alloc(pageSize) },
}

describe('a damaged page', () => {
  const acknowledged = new Acknowledged()
  let first: RunningService
  const scope = lifo({ after })
  before(async () => {
    first = await startService(scope)
    await acknowledged.createSome(first, 100)
    await first.stop()
  })
  for (const name of ['user_group', 'sqlite_autoindex_user_group_1']) {
    for (const [damage, { from, bytes }] of Object.entries(damages)) {
      it(`of ${name}: ${damage}: causes 503 with the remedy in the log, and never a wrong token`, async (t) => {
        const dataFolder = join(temporaryFolder(t), 'data')
        cpSync(first.dataFolder, dataFolder, { recursive: true })
        const path = join(dataFolder, 'ugs.db')
        const leaves = leafOffsets(path, name)
        const file = openSync(path, 'r+')
        writeSync(file, bytes, 0, bytes.length, (leaves[Math.floor(leaves.length / 2)] as number) + from)
        closeSync(file)
        const service = {
          ...(await startService(t, { UGS_DATA_DIR: dataFolder })),
          tokens: first.tokens,
        }
        const refused = await acknowledged.assertNoneWrong(service)
        assert.ok(refused > 0)
        // User groups on other pages are unaffected.
        if (leaves.length > 2) assert.ok(refused < acknowledged.tokens.size)
        await service.logged('"reason":"SQLITE_CORRUPT')
        assert.match(
          service.stderr(),
          /"reason":"SQLITE_CORRUPT\w*: the database is damaged; restore a backup"/,
        )
        assert.doesNotMatch(service.stderr(), /"code":"internal"/)
      })
    }
  }
})
