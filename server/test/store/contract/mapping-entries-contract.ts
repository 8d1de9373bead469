import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseDatabaseUrl } from '../../../src/config/database-url.ts'
import type { Store } from '../../../src/domain/store.ts'
import type { UserGroupKey } from '../../../src/domain/user-group/user-group.ts'
import { openStore } from '../../../src/store/open-store.ts'
import { deletion, freshKey, mint, actor } from './store-fixtures.ts'
import { Registry } from './registry.ts'
import { defaults } from '../store-options.ts'

type Row = Readonly<Record<string, unknown>>

export interface MappingEntriesOptions {
  /** Returns the `DATABASE_URL` of an empty database. */
  readonly freshUrl: () => string | Promise<string>
  readonly query: (url: string, sql: string) => readonly Row[] | Promise<readonly Row[]>
}

/** Tests that mappings and their entries stay consistent when several processes write. */
export function describeMappingEntries(name: string, { freshUrl, query }: MappingEntriesOptions): void {
  /** Opens several stores on one database, as replicas do, runs `work` and closes them. */
  async function withStores(
    count: number,
    work: (stores: readonly [Store, ...Store[]], url: string) => Promise<void>,
  ): Promise<void> {
    const url = await freshUrl()
    const open = () => openStore(parseDatabaseUrl(url), { ...defaults, lockTimeoutMs: 20_000, poolSize: 4 })
    const stores = [await open()] as [Store, ...Store[]]
    while (stores.length < count) stores.push(await open())
    try {
      await work(stores, url)
    } finally {
      await Promise.all(stores.map((store) => store.close()))
    }
  }

  const entryOf = (...cells: unknown[]) => cells.map(String).join(' | ')

  /** Returns the entries of all mappings, except those with U+0000, which cannot name anything. */
  async function entriesOfMappings(url: string): Promise<string[]> {
    const groups = await query(url, 'SELECT workspace_id, environment, team_id, mapping FROM user_group')
    return groups
      .flatMap(({ workspace_id, environment, team_id, mapping }) =>
        Object.entries(JSON.parse((mapping ?? '{}') as string) as Record<string, string>)
          .filter((entry) => !entry.join('').includes('\0'))
          .map((entry) => entryOf(workspace_id, environment, ...entry, team_id)),
      )
      .sort()
  }

  async function storedEntries(url: string): Promise<string[]> {
    const kept = await query(url, 'SELECT * FROM mapping_entry')
    return kept
      .map((row) =>
        entryOf(row.workspace_id, row.environment, row.schema_key, row.data_source_key, row.team_id),
      )
      .sort()
  }

  const assertConsistent = async (url: string) =>
    assert.deepEqual(await storedEntries(url), await entriesOfMappings(url))

  const create = (store: Store, key: UserGroupKey, mapping?: string | null) =>
    store.userGroups.getOrCreate({
      ...{ key, change: mapping === undefined ? { name: 'A' } : { name: 'A', mapping } },
      ...{ mayWrite: true, issueToken: mint, ...actor, now: 1000 },
    })

  const mappings = [
    null,
    '{}',
    '{"40":"213"}',
    '{"40":"214"}',
    '{"40":"213","41":"213"}',
    '{"41":"213","40":"213"}',
    '{"\\u0034\\u0030":"\\u0032\\u0031\\u0033"}',
    '{ "a\\"b" : "\\\\", "\\/" : "\\n\\t\\u2028" }',
    '{"\\u00e9":"é","\\ud83d\\ude00":"😀"}',
    '{"a\\u0000b":"c","d":"\\u0000","\\u0000":"\\u0000"}',
    '{"__proto__":"1","constructor":"2","":" "}',
    `{"${'😀'.repeat(255)}":"${'𝒳'.repeat(255)}"}`,
    JSON.stringify(Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`key ${i}`, `value ${i}`]))),
  ]

  /** Mapping with backslashes that look like an escaped U+0000. */
  const backslashes = '{"\\\\u0000":"\\\\\\\\u0000","\\\\":"\\\\\\\\ufffd"}'

  describe(`${name}: the entries of mappings`, () => {
    it('are those of a mapping with backslashes', async () => {
      await withStores(1, async ([store], url) => {
        await create(store, freshKey(), backslashes)
        await assertConsistent(url)
      })
    })

    for (const seed of [1, 2, 3]) {
      it(`stay consistent after each of many successive changes (${seed})`, async () => {
        await withStores(1, async ([store], url) => {
          const random = randomOf(seed)
          const pick = <T>(from: readonly T[]) => from[Math.floor(random() * from.length)] as T
          const keys = [
            freshKey(),
            freshKey(),
            freshKey(),
            { ...freshKey(), environment: 'Testing' as const },
          ]
          for (let step = 0; step < 120; step++) {
            const key = pick(keys)
            const mapping = pick(mappings)
            const kind = random()
            if (kind < 0.3) await create(store, key, mapping)
            else if (kind < 0.4) await create(store, key)
            else if (kind < 0.8)
              await store.userGroups.update({ key, change: { mapping }, ...actor, now: step })
            else if (kind < 0.9)
              await store.userGroups.update({ key, change: { name: `${step}` }, ...actor, now: step })
            else await store.userGroups.delete(deletion(key))
            if (step % 4 === 3) await assertConsistent(url)
          }
        })
      })

      it(`are complete after simultaneous changes of several processes, and block no deletion (${seed})`, async () => {
        await withStores(3, async (stores, url) => {
          const random = randomOf(seed)
          const pick = <T>(from: readonly T[]) => from[Math.floor(random() * from.length)] as T
          const keys = [freshKey(), freshKey(), freshKey()]
          const few = ['{"a":"1"}', '{"a":"2"}', '{"a":"1","b":"2"}', null]
          const own = new Registry(stores[0], { workspaceId: 1, environment: 'Customer' })
          const a = await own.createSchema({ providedId: 'a' })
          const b = await own.createSchema({ providedId: 'b' })
          const named = [
            {
              entry: ' | a | 1 | ',
              schema: a,
              dataSource: await own.createDataSource(a, { providedId: '1' }),
            },
            {
              entry: ' | a | 2 | ',
              schema: a,
              dataSource: await own.createDataSource(a, { providedId: '2' }),
            },
            {
              entry: ' | b | 2 | ',
              schema: b,
              dataSource: await own.createDataSource(b, { providedId: '2' }),
            },
          ]
          for (let round = 0; round < 20; round++) {
            await Promise.all(
              Array.from({ length: 18 }, () => {
                const [store, key, mapping, kind] = [pick(stores), pick(keys), pick(few), random()]
                if (kind < 0.3) return create(store, key, mapping)
                if (kind < 0.9)
                  return store.userGroups.update({ key, change: { mapping }, ...actor, now: round })
                return store.userGroups.delete(deletion(key))
              }),
            )
            const expected = await entriesOfMappings(url)
            const kept = new Set(await storedEntries(url))
            assert.deepEqual(
              expected.filter((entry) => !kept.has(entry)),
              [],
            )
            // Stale entries may remain, but only the mappings decide whether a data source is in use.
            for (const one of named) {
              const isMapped = expected.some((entry) => entry.includes(one.entry))
              assert.equal(await own.deleteDataSource(one.dataSource), isMapped ? 'in_use' : 'deleted')
              if (!isMapped) one.dataSource = await own.createDataSource(one.schema, one.dataSource)
            }
          }
        })
      })
    }
  })

  describe(`${name}: a data source that is deleted while it is mapped`, () => {
    const ways = ['created', 'changed', 'both'] as const
    for (const way of ways) {
      it(`either remains or is mapped by no user group (user groups are ${way})`, async () => {
        await withStores(3, async (stores, url) => {
          const [store] = stores
          for (let round = 0; round < 15; round++) {
            const own = await Registry.fresh(store)
            const schema = await own.createSchema({ providedId: 'sales' })
            const dataSource = await own.createDataSource(schema, { providedId: 'eu' })
            const spellings = [{ sales: 'eu' }, { [schema.id]: String(dataSource.id) }].map((mapping) =>
              JSON.stringify(mapping),
            )
            const keys = Array.from({ length: 12 }, (): UserGroupKey => ({
              ...own.tenantScope,
              providedId: freshKey().providedId,
            }))
            const isCreated = (i: number) => way === 'created' || (way === 'both' && i % 2 === 0)
            await Promise.all(keys.filter((_, i) => !isCreated(i)).map((key) => create(store, key)))
            const write = keys.map((key, i) => async () => {
              const change = { name: 'A', mapping: spellings[i % 2] as string }
              const by = stores[i % stores.length] as Store
              const command = { key, change, mappingMode: 'registered', ...actor, now: 2000 } as const
              const { outcome } = isCreated(i)
                ? await by.userGroups.getOrCreate({ ...command, mayWrite: true, issueToken: mint })
                : await by.userGroups.update(command)
              assert.ok(['created', 'updated', 'mapping_refused'].includes(outcome), outcome)
              return outcome
            })
            // The deletion starts before, between or after the writes.
            const at = round % (keys.length + 1)
            const written = write.slice(0, at).map((work) => work())
            const removal = own.deleteDataSource(dataSource)
            const outcomes = await Promise.all([...written, ...write.slice(at).map((work) => work())])
            const isThere = (await own.dataSources()).length === 1
            assert.equal(await removal, isThere ? 'in_use' : 'deleted')
            if (isThere) assert.ok(outcomes.some((outcome) => outcome !== 'mapping_refused'))
            else assert.ok(outcomes.every((outcome) => outcome === 'mapping_refused'))
            for (const key of isThere ? [] : keys) {
              assert.equal((await store.userGroups.find(key))?.mapping ?? null, null)
            }
          }
          await assertConsistent(url)
        })
      })
    }
  })
}

/** Returns a generator of pseudorandom numbers from 0 to 1 with this seed (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
