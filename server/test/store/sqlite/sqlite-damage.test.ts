import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { closeSync, copyFileSync, existsSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import BetterSqlite3 from 'better-sqlite3'
import type { Store } from '../../../src/domain/store.ts'
import { readMigrations } from '../../../src/store/migrations.ts'
import { StoreError } from '../../../src/store/store-error.ts'
import type { openStore as openFromSource, resumeStore } from '../../../src/store/open-store.ts'
import { poll } from '../../failover/poll.ts'
import { temporaryFolder } from '../../support/service.ts'
import { actor, hashOf, mint } from '../contract/store-fixtures.ts'
import { defaults } from '../store-options.ts'

// The process that checks the store cannot run TypeScript.
const { openStore, resumeStore: resume } = (await import(
  new URL('../../../dist/store/open-store.js', import.meta.url).href
)) as { openStore: typeof openFromSource; resumeStore: typeof resumeStore }

const pageSize = 4096
const idOf = (i: number) => `customer-${i}`
const index = 'sqlite_autoindex_user_group_1'

/** Creates the user group, or finds it unchanged. */
function getOrCreate(store: Store, providedId: string) {
  return store.userGroups.getOrCreate({
    key: { workspaceId: 1, environment: 'Customer', providedId },
    change: { name: 'A', properties: JSON.stringify({ plan: 'x'.repeat(100) }) },
    mayWrite: true,
    issueToken: mint,
    ...actor,
    now: 1,
  })
}

async function createStore(path: string, count: number): Promise<void> {
  const store = await openStore({ kind: 'sqlite', path }, defaults)
  for (let i = 0; i < count; i++) await getOrCreate(store, idOf(i))
  await store.close()
}

function readFrom<T>(path: string, sql: string, ...values: unknown[]): T[] {
  const database = new BetterSqlite3(path, { readonly: true })
  try {
    return database.prepare<unknown[], T>(sql).pluck().all(values)
  } finally {
    database.close()
  }
}

/** Returns the numbers of the pages of tables and indexes. */
function pagesOf(path: string, ...names: string[]): number[] {
  return names.flatMap((name) => readFrom<number>(path, 'SELECT pageno FROM dbstat WHERE name = ?', name))
}

function change(path: string, offset: number, changed: (byte: Buffer) => Buffer, length = 1): void {
  const file = openSync(path, 'r+')
  const bytes = Buffer.alloc(length)
  readSync(file, bytes, 0, length, offset)
  writeSync(file, changed(bytes), 0, length, offset)
  closeSync(file)
}

/** Damages the entry of a user group in the index, so that the user group looks absent, and SQLite finds no fault. */
function hideFromIndex(path: string, id: string): void {
  for (const page of pagesOf(path, index)) {
    const bytes = Buffer.alloc(pageSize)
    change(path, (page - 1) * pageSize, (same) => (same.copy(bytes), same), pageSize)
    const at = bytes.indexOf(id)
    if (at >= 0) change(path, (page - 1) * pageSize + at + id.length - 1, () => Buffer.from('~'))
  }
}

/** Matches the fault of a change or an absence that a damaged store refuses. It is of another class than in the source. */
const isRefusal = (error: Error) =>
  error.name === 'Fault' && 'reason' in error && String(error.reason).startsWith('STORE_DAMAGED: ')

async function open(t: TestContext, path: string, onDamage?: (reason: string) => void): Promise<Store> {
  const store = await openStore({ kind: 'sqlite', path }, { ...defaults, onDamage })
  t.after(() => store.close())
  return store
}

describe('a store with flipped bytes', () => {
  const count = 400
  const rounds = 60

  /** Returns a number below `limit` that depends only on the arguments. */
  const drawn = (limit: number, ...seed: (string | number)[]) =>
    hash('sha256', seed.join(), 'buffer').readUInt32BE() % limit

  /** Flips 1 to 8 bits of one page. */
  function flip(path: string, pages: readonly number[], round: number): void {
    const page = pages[drawn(pages.length, round, 'page')] as number
    for (let i = drawn(8, round, 'count'); i >= 0; i--) {
      const offset = (page - 1) * pageSize + drawn(pageSize, round, i, 'offset')
      change(path, offset, ([byte = 0]) => Buffer.from([byte ^ (1 << drawn(8, round, i, 'bit'))]))
    }
  }

  /** Asks for all user groups and one that does not exist. Returns how many were refused. */
  async function assertNoneCreatedAgain(store: Store, round: number): Promise<number> {
    let refused = 0
    let isDamaged = store.integrity.damage !== null
    for (let i = 0; i <= count; i++) {
      const result = await getOrCreate(store, idOf(i)).catch((error: unknown) => error)
      if (result instanceof Error) {
        // A row with a value of another type is a defect to the service.
        assert.match(result.name, /^(Fault|TypeError)$/, `round ${round}: ${result.stack}`)
        refused++
      } else if ((result as { outcome: string }).outcome === 'created') {
        assert.equal(i, count, `round ${round}: ${idOf(i)} was created again`)
        assert.equal(isDamaged, false, `round ${round}: a damaged store was changed`)
      }
      isDamaged ||= store.integrity.damage !== null
    }
    return refused
  }

  for (const [kind, names] of Object.entries({
    'table and the index of user groups': ['user_group', index],
    'whole file': [],
  })) {
    it(`in the ${kind} never creates a user group again, and is not changed once it is known`, async (t) => {
      const folder = temporaryFolder(t)
      const original = join(folder, 'ugs.db')
      await createStore(original, count)
      const pages =
        names.length > 0
          ? pagesOf(original, ...names)
          : readFrom<number>(original, 'SELECT pageno FROM dbstat')
      let damaged = 0
      for (let round = 0; round < rounds; round++) {
        const path = join(folder, `${round}.db`)
        copyFileSync(original, path)
        flip(path, pages, round)
        try {
          const store = await openStore({ kind: 'sqlite', path }, defaults)
          try {
            store.integrity.checkIfSmall()
            await assertNoneCreatedAgain(store, round)
            if (store.integrity.damage !== null) damaged++
          } finally {
            await store.close()
          }
        } catch (error) {
          // A damaged header or schema keeps the store from opening.
          assert.match((error as Error).name, /^(StoreError|SqliteError)$/, (error as Error).stack)
          damaged++
        }
        for (const suffix of ['', '-wal', '-shm', '-damaged']) rmSync(path + suffix, { force: true })
      }
      // Other flips change only values, or bytes that no row uses.
      assert.ok(damaged > rounds / 4, `${damaged} of ${rounds}`)
    })
  }
})

describe('a damaged store', () => {
  it('is refused changes by all processes, also after a restart, until it is repaired and resumed', async (t) => {
    const path = join(temporaryFolder(t), 'ugs.db')
    await createStore(path, 400)
    const [root] = readFrom<number>(path, "SELECT rootpage FROM sqlite_schema WHERE name = 'user_group'")
    const leaves = pagesOf(path, 'user_group').filter((page) => page !== root)
    const offset = ((leaves[Math.floor(leaves.length / 2)] as number) - 1) * pageSize
    let kept = Buffer.alloc(0)
    const reasons: string[] = []
    const [finder, other] = [await open(t, path, (reason) => reasons.push(reason)), await open(t, path)]
    change(path, offset, (bytes) => ((kept = Buffer.from(bytes)), Buffer.alloc(pageSize, 0xff)), pageSize)
    const results = await Promise.allSettled(
      Array.from({ length: 400 }, (_, i) => getOrCreate(finder, idOf(i))),
    )
    const found = results.filter(({ status }) => status === 'fulfilled').length
    assert.ok(found > 0 && found < 400, `${found}`)
    assert.equal(reasons.length, 1)
    assert.match(reasons[0] ?? '', /^STORE_DAMAGED: SQLITE_CORRUPT at \d{4}-.*`ugs store resume`/)

    for (const store of [finder, other, await open(t, path)]) {
      await assert.rejects(getOrCreate(store, 'new'), isRefusal)
      await assert.rejects(
        store.workspaces.create({ name: 'x', createdAt: 1, environment: 'Testing', ...actor }),
        isRefusal,
      )
      const outcome = await getOrCreate(store, idOf(0))
      assert.equal(outcome.outcome, 'unchanged')
    }
    await assert.rejects(resume({ kind: 'sqlite', path }, defaults), /still damaged/)
    await assert.rejects(getOrCreate(other, 'new'), isRefusal)

    change(path, offset, () => kept, pageSize)
    assert.equal(await resume({ kind: 'sqlite', path }, defaults), true)
    for (const [i, store] of [finder, other].entries())
      assert.equal((await getOrCreate(store, `new-${i}`)).outcome, 'created')
    assert.equal(await resume({ kind: 'sqlite', path }, defaults), false)
  })

  it('does not say that a user group or a token does not exist', async (t) => {
    const path = join(temporaryFolder(t), 'ugs.db')
    await createStore(path, 3)
    const store = await open(t, path)
    hideFromIndex(path, idOf(1))
    assert.equal(store.integrity.checkIfSmall(), true)
    const key = { workspaceId: 1, environment: 'Customer', providedId: idOf(1) } as const
    const token = { bucket: 1, teamId: 99, hash: hashOf({ sealed: Buffer.alloc(34) }) }
    for (const absent of [
      () => getOrCreate(store, idOf(1)),
      () => store.userGroups.update({ key, change: { name: 'B' }, ...actor, now: 2 }),
      () => store.userGroups.find(key),
      () => store.userGroups.findById(1, 'Customer', 99),
      () => store.userGroups.findByToken(1, 'Customer', token, 2),
      () =>
        store.userGroups.rotate({
          ...{ workspaceId: 1, environment: 'Customer', target: { token }, oldTokenValidUntil: 2 },
          ...{ issueToken: mint, ...actor, now: 2 },
        }),
    ])
      await assert.rejects(absent, isRefusal)
  })

  it('is found by a check while it is in use, and by what the service did not write', async (t) => {
    for (const find of [
      (store: Store) => store.integrity.check(),
      (store: Store) => {
        store.integrity.suspect()
        return Promise.resolve()
      },
    ]) {
      const path = join(temporaryFolder(t), 'ugs.db')
      await createStore(path, 3)
      const store = await open(t, path)
      await store.integrity.check()
      assert.equal(store.integrity.damage, null)
      hideFromIndex(path, idOf(1))
      const second = await open(t, path)
      await find(second)
      await poll('the check', 20_000, () => Promise.resolve(second.integrity.damage ?? undefined))
      assert.match(second.integrity.damage ?? '', /^STORE_DAMAGED: row \d+ missing from index/)
      await assert.rejects(getOrCreate(store, idOf(1)), isRefusal)
    }
  })

  it('is neither replaced by an empty store nor migrated', async (t) => {
    const path = join(temporaryFolder(t), 'ugs.db')
    await createStore(path, 3)
    hideFromIndex(path, idOf(1))
    const store = await openStore({ kind: 'sqlite', path }, defaults)
    store.integrity.checkIfSmall()
    await store.close()
    const own = readMigrations('sqlite')
    const later = { version: own.length + 1, name: 'additive-note', sql: 'CREATE TABLE note (id INTEGER)' }
    const isError = (pattern: RegExp) => (error: Error) =>
      error.name === StoreError.name && pattern.test(error.message)
    await assert.rejects(
      openStore({ kind: 'sqlite', path }, { ...defaults, migrations: [...own, later] }),
      isError(/has to change its tables/),
    )
    rmSync(path)
    await assert.rejects(
      openStore({ kind: 'sqlite', path }, defaults),
      isError(/is missing, and was damaged/),
    )
    assert.ok(!existsSync(path))
  })
})
