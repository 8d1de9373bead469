import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseDatabaseUrl } from '../../../src/config/database-url.ts'
import { readMigrations, type MigrateMode, type Migration } from '../../../src/store/migrations.ts'
import { openStore } from '../../../src/store/open-store.ts'
import { defaults } from '../store-options.ts'

type Row = Readonly<Record<string, unknown>>

export interface MigrationsOptions {
  readonly dialect: 'sqlite' | 'postgres'
  /** Returns the `DATABASE_URL` of an empty database. */
  readonly freshUrl: () => string | Promise<string>
  readonly query: (url: string, sql: string) => readonly Row[] | Promise<readonly Row[]>
  readonly execute: (url: string, sql: string) => unknown
}

/** Tests the migrations of an existing store with migrations of a later release. */
export function describeMigrations(
  name: string,
  { dialect, freshUrl, query, execute }: MigrationsOptions,
): void {
  const own = readMigrations(dialect)
  const later = (count: number, migrationName: string, sql: string): Migration => ({
    version: own.length + count,
    name: migrationName,
    sql,
  })
  const additive = later(1, 'additive-note', 'ALTER TABLE workspace ADD COLUMN note TEXT')
  const contract = later(2, 'contract-note', 'ALTER TABLE workspace DROP COLUMN note')
  const other = later(3, 'color', 'ALTER TABLE workspace ADD COLUMN color TEXT')

  const open = async (url: string, migrations: readonly Migration[], migrate: MigrateMode = 'auto') => {
    const store = await openStore(parseDatabaseUrl(url), { ...defaults, migrate, migrations })
    await store.close()
  }
  const names = async (url: string) =>
    (await query(url, 'SELECT name FROM schema_migration ORDER BY version')).map((row) => row.name)
  const ownNames = own.map((migration) => migration.name)

  describe(`${name}: a store of this release`, () => {
    it('gets what a later release adds, and what that release removes only by a contract', async () => {
      const url = await freshUrl()
      await open(url, own)
      await assert.rejects(open(url, [...own, additive, contract], 'check'), {
        message: new RegExp(
          `has schema version ${own.length}, and this release needs ${own.length + 1}; run`,
        ),
      })
      assert.deepEqual(await names(url), ownNames)
      await open(url, [...own, additive, contract])
      assert.deepEqual(await names(url), [...ownNames, 'additive-note'])
      await execute(url, "UPDATE workspace SET note = 'kept'")
      // Neither mode applies the contract.
      for (const mode of ['auto', 'check'] as const) await open(url, [...own, additive, contract], mode)
      assert.deepEqual(await query(url, 'SELECT note FROM workspace'), [{ note: 'kept' }])
      await open(url, [...own, additive, contract], 'contract')
      assert.deepEqual(await names(url), [...ownNames, 'additive-note', 'contract-note'])
      await assert.rejects(async () => query(url, 'SELECT note FROM workspace'))
    })

    it('still serves this release after an addition, and refuses it after another change', async () => {
      const url = await freshUrl()
      await open(url, [...own, additive])
      for (const mode of ['auto', 'check', 'contract'] as const) await open(url, own, mode)
      await open(url, [...own, additive, contract, other], 'contract')
      await assert.rejects(open(url, own), {
        message: new RegExp(`has schema version ${own.length + 3}, and this release knows up to`),
      })
    })

    it('has every contract from the start if a later release creates it', async () => {
      const url = await freshUrl()
      await open(url, [...own, additive, contract])
      assert.deepEqual(await names(url), [...ownNames, 'additive-note', 'contract-note'])
    })

    it('stays as it is if a migration fails', async () => {
      const url = await freshUrl()
      await open(url, own)
      const failing = later(1, 'additive-failing', `${additive.sql}; INSERT INTO nowhere VALUES (1)`)
      await assert.rejects(open(url, [...own, failing]))
      assert.deepEqual(await names(url), ownNames)
      await open(url, [...own, additive])
    })
  })

  it(`${name}: a store of a build before version 1.0 is refused with the way to move its user groups`, async () => {
    const url = await freshUrl()
    await open(url, own)
    await execute(
      url,
      "UPDATE schema_migration SET name = 'initial'; INSERT INTO schema_migration VALUES (2, 'schemas-and-data-sources', 0)",
    )
    for (const mode of ['auto', 'check', 'contract'] as const)
      await assert.rejects(open(url, own, mode), {
        name: 'StoreError',
        message:
          /a build from before version 1\.0 .*`ugs export` with that build, and `ugs import` with this release/,
      })
  })
}
