import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { cases } from '../../support/cases.ts'
import { parseDatabaseUrl } from '../../../src/config/database-url.ts'
import { isContract, readMigrations } from '../../../src/store/migrations.ts'
import { openStore } from '../../../src/store/open-store.ts'
import { runUgs } from '../../support/service.ts'
import { text } from './store-fixtures.ts'
import { defaults } from '../store-options.ts'

export interface ProcessesOptions {
  readonly dialect: 'sqlite' | 'postgres'
  /** Returns the `DATABASE_URL` of an empty database. */
  readonly freshUrl: () => string | Promise<string>
  /** Returns the name of the database at the start of messages. */
  readonly placeOf: (url: string) => string
  /** Checks the integrity of the database and returns the row count of a table. */
  readonly count: (url: string, table: string) => number | Promise<number>
}

/** Tests several processes on one database. */
export function describeProcesses(
  name: string,
  { dialect, freshUrl, placeOf, count }: ProcessesOptions,
): void {
  const migrations = readMigrations(dialect)
  const versions = migrations.length
  const neededVersion = migrations.findLast((migration) => !isContract(migration))?.version
  const open = (url: string, migrate: 'auto' | 'check' = 'auto') =>
    openStore(parseDatabaseUrl(url), { ...defaults, migrate })

  describe(`${name}: several processes`, () => {
    it('migrate an empty database once and can all write to it', async () => {
      const url = await freshUrl()
      const processes = cases(4)
      const outputs = await Promise.all(
        Array.from({ length: processes }, (_, i) => linesOf(create(url, `p${i}`, 1))),
      )
      assert.deepEqual(outputs.flat().length, processes)
      assert.equal(await count(url, 'schema_migration'), versions)
      assert.equal(await count(url, 'user_group'), processes)
      assert.equal(await count(url, 'workspace'), 1)
    })

    it('keep every acknowledged user group after kill -9', async () => {
      const url = await freshUrl()
      for (let round = 0; round < cases(1); round++) {
        const child = create(url, `r${round}`, 100_000)
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

    it('create each user group once', async () => {
      const url = await freshUrl()
      await (await open(url)).close()
      const outputs = await Promise.all(Array.from({ length: 3 }, () => linesOf(create(url, 'same', 100))))
      for (const lines of outputs) assert.deepEqual(lines, outputs[0])
      assert.equal(outputs[0]?.length, 100)
    })
  })

  describe(`${name}: UGS_MIGRATE=check`, () => {
    it('refuses an empty database and names the command, until `ugs migrate` has run', async () => {
      const url = await freshUrl()
      await assert.rejects(open(url, 'check'), {
        name: 'StoreError',
        message: `${placeOf(url)}: the database has schema version 0, and this release needs ${neededVersion}; run \`ugs migrate\`, or set UGS_MIGRATE=auto`,
      })
      const { code, stdout, stderr } = await runUgs(['migrate'], { DATABASE_URL: url, UGS_MIGRATE: 'check' })
      assert.deepEqual([code, stdout, stderr], [0, '', 'The store is up to date.\n'])
      const store = await open(url, 'check')
      assert.deepEqual((await store.workspaces.list()).length, 1)
      await store.close()
    })

    it('does not prevent another process from migrating the database', async () => {
      const url = await freshUrl()
      await assert.rejects(open(url, 'check'))
      await (await open(url)).close()
      assert.equal(await count(url, 'schema_migration'), versions)
    })
  })
}

const script = fileURLToPath(new URL('../sqlite/open-and-create.js', import.meta.url))

function create(url: string, prefix: string, count: number) {
  return spawn(process.execPath, [script, url, prefix, String(count), JSON.stringify(defaults)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

/** Collects the output lines of a process until it exits with code 0 or by our SIGKILL. */
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
