import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { parseDatabaseUrl } from '../../../src/config/database-url.ts'
import { readMigrations } from '../../../src/store/migrations.ts'
import { openStore } from '../../../src/store/open-store.ts'
import { runUgs } from '../../support/service.ts'
import { text } from './store-fixtures.ts'
import { defaults } from '../store-options.ts'

export interface ProcessesOptions {
  readonly dialect: 'sqlite' | 'postgres'
  /** Of an empty database; as `DATABASE_URL`. */
  readonly freshUrl: () => string | Promise<string>
  /** The name of the place, as messages about it begin. */
  readonly placeOf: (url: string) => string
  /** How many rows a table has, in a database that is whole. */
  readonly count: (url: string, table: string) => number | Promise<number>
}

/** What every store must do between processes: run by one test file for each. */
export function describeProcesses(
  name: string,
  { dialect, freshUrl, placeOf, count }: ProcessesOptions,
): void {
  const versions = readMigrations(dialect).length
  const open = (url: string, migrate: 'auto' | 'check' = 'auto') =>
    openStore(parseDatabaseUrl(url), { ...defaults, migrate })

  describe(`${name}: several processes`, () => {
    it('bring the tables up to date once, and work at once, on an empty database', async () => {
      const url = await freshUrl()
      const outputs = await Promise.all(
        Array.from({ length: 10 }, (_, i) => linesOf(create(url, `p${i}`, 1))),
      )
      assert.deepEqual(outputs.flat().length, 10)
      assert.equal(await count(url, 'schema_migration'), versions)
      assert.equal(await count(url, 'user_group'), 10)
      assert.equal(await count(url, 'workspace'), 1)
    })

    it('have every acknowledged user group after kill -9', async () => {
      const url = await freshUrl()
      for (const round of ['r0', 'r1', 'r2']) {
        const child = create(url, round, 100_000)
        const acknowledged = await linesOf(child, (lines) => {
          if (lines.length === 200) child.kill('SIGKILL')
        })
        assert.ok(acknowledged.length >= 200)
        assert.ok((await count(url, 'user_group')) >= 200)
        const store = await open(url)
        for (const line of acknowledged) {
          const [providedId = '', sealed] = line.split(' ')
          const found = await store.userGroups.find({ workspaceId: 1, environment: 'Customer', providedId })
          assert.equal(found && text(found.token.sealed), sealed)
        }
        await store.close()
      }
    })

    it('create once', async () => {
      const url = await freshUrl()
      await (await open(url)).close()
      const outputs = await Promise.all(Array.from({ length: 4 }, () => linesOf(create(url, 'same', 300))))
      for (const lines of outputs) assert.deepEqual(lines, outputs[0])
      assert.equal(outputs[0]?.length, 300)
    })
  })

  describe(`${name}: UGS_MIGRATE=check`, () => {
    it('refuses an empty database, with the cure, until `ugs migrate` has been run', async () => {
      const url = await freshUrl()
      await assert.rejects(open(url, 'check'), {
        name: 'StoreError',
        message: `${placeOf(url)}: the database has schema version 0, and this release needs ${versions}: run \`ugs migrate\`, or set UGS_MIGRATE=auto`,
      })
      const { code, stdout, stderr } = await runUgs(['migrate'], { DATABASE_URL: url, UGS_MIGRATE: 'check' })
      assert.deepEqual([code, stdout, stderr], [0, '', 'The store is up to date.\n'])
      const store = await open(url, 'check')
      assert.deepEqual((await store.workspaces.list()).length, 1)
      await store.close()
    })

    it('leaves an empty database to whoever has it brought up to date', async () => {
      const url = await freshUrl()
      await assert.rejects(open(url, 'check'))
      await (await open(url)).close()
      assert.equal(await count(url, 'schema_migration'), versions)
    })
  })
}

const script = fileURLToPath(new URL('../sqlite/open-and-create.ts', import.meta.url))

function create(url: string, prefix: string, count: number) {
  return spawn(process.execPath, ['--import', 'tsx', script, url, prefix, String(count)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

/** What it writes until it ends, which it does with 0 or as it is told. */
async function linesOf(
  child: ReturnType<typeof create>,
  onLine: (lines: readonly string[]) => void = () => undefined,
): Promise<string[]> {
  const ended = once(child, 'exit')
  const lines: string[] = []
  for await (const line of createInterface({ input: child.stdout })) onLine((lines.push(line), lines))
  assert.deepEqual(await ended, child.killed ? [null, 'SIGKILL'] : [0, null])
  return lines
}
