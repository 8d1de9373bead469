import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { DataSource, Schema } from '../../../src/domain/data-source/data-source.ts'
import type { Store } from '../../../src/domain/store.ts'
import type { TokenOwner } from '../../../src/domain/user-group/user-group-store.ts'
import type { UserGroup } from '../../../src/domain/user-group/user-group.ts'
import { getOrCreate, keyIn, mapped, type Mapping } from './mapped-user-groups.ts'
import { Registry } from './registry.ts'
import { referenceOf, mint, actor, plain, tokenless } from './store-fixtures.ts'
import { userGroupOf, withoutState } from './created-user-group.ts'

/** Tests how a store resolves the mapping of a user group to data sources. */
export function describeMappings(name: string, openFreshStore: () => Promise<Store>): void {
  describe(`${name}: the data sources of a user group`, () => {
    let store: Store
    before(async () => {
      store = await openFreshStore()
    })
    after(() => store.close())

    const ownerOf = async ({ workspaceId, environment, token }: UserGroup, now = 1000) => {
      const owner = await store.userGroups.findByToken(workspaceId, environment, referenceOf(token), now)
      assert.ok(owner !== null)
      return owner
    }
    const shown = ({ id, providedId, name }: DataSource) => ({ id, providedId, name })
    const named = ({ id, providedId }: Schema) => ({ id, providedId })
    const byKey = ({ dataSources }: TokenOwner) =>
      Object.fromEntries(dataSources.map(({ schemaKey, dataSource }) => [schemaKey, dataSource]))

    /** Returns the data sources of a mapping by schema key, without unregistered ones. */
    const resolve = async (own: Registry, mapping: Mapping | string) =>
      byKey(await ownerOf(await mapped(store, keyIn(own), mapping)))

    it('are found by provided id or id of both schema and data source', async () => {
      const own = await Registry.fresh(store)
      const schema = await own.createSchema({ providedId: 'sales' })
      const dataSource = await own.createDataSource(schema, { providedId: 'eu', name: 'Näme 😀' })
      for (const schemaKey of ['sales', String(schema.id)]) {
        for (const key of ['eu', String(dataSource.id)]) {
          const owner = await ownerOf(await mapped(store, keyIn(own), { [schemaKey]: key }))
          const entry = { schemaKey, schema: named(schema), dataSource: shown(dataSource) }
          assert.deepEqual(owner.dataSources, [entry])
        }
      }
    })

    it('are all registered ones that the mapping names', async () => {
      const own = await Registry.fresh(store)
      const sales = await own.createSchema({ providedId: 'sales' })
      const support = await own.createSchema({ providedId: 'support' })
      const eu = await own.createDataSource(sales, { providedId: 'eu' })
      const us = await own.createDataSource(support, { providedId: 'us' })
      assert.deepEqual(
        await resolve(own, {
          sales: 'eu',
          nothing: 'eu',
          [support.id]: 'us',
          support: 'eu',
          [sales.id]: 'us',
        }),
        { sales: shown(eu), [support.id]: shown(us) },
      )
      assert.deepEqual(await resolve(own, { nothing: 'eu' }), {})
      const none = userGroupOf(await getOrCreate(store, keyIn(own)))
      assert.deepEqual((await ownerOf(none)).dataSources, [])
    })

    it('are found by the provided id of a schema before the id of another schema', async () => {
      const own = await Registry.fresh(store)
      const byId = await own.createSchema({ providedId: 'sales' })
      const byProvidedId = await own.createSchema({ providedId: String(byId.id) })
      await own.createDataSource(byId, { providedId: 'both' })
      const onlyById = await own.createDataSource(byId, { providedId: 'one' })
      const wins = await own.createDataSource(byProvidedId, { providedId: 'both' })
      assert.deepEqual(await resolve(own, { [byId.id]: 'both' }), { [byId.id]: shown(wins) })
      // The schema is resolved before the data source.
      for (const key of ['one', String(onlyById.id)]) {
        assert.deepEqual(await resolve(own, { [byId.id]: key }), {})
        assert.deepEqual(await resolve(own, { sales: key }), { sales: shown(onlyById) })
      }
    })

    it('are found by their provided id before the id of another data source', async () => {
      const own = await Registry.fresh(store)
      const schema = await own.createSchema({ providedId: 'sales' })
      const other = await own.createSchema({ providedId: 'support' })
      const byId = await own.createDataSource(schema, { providedId: 'eu' })
      const elsewhere = await own.createDataSource(other, { providedId: String(byId.id) })
      const wins = await own.createDataSource(schema, { providedId: String(byId.id) })
      assert.deepEqual(await resolve(own, { sales: String(byId.id) }), { sales: shown(wins) })
      assert.deepEqual(await resolve(own, { support: String(byId.id) }), { support: shown(elsewhere) })
    })

    it('are not those of another schema, environment or workspace', async () => {
      const own = await Registry.fresh(store)
      const others = [
        new Registry(store, { ...own.tenantScope, environment: 'Testing' }),
        await Registry.fresh(store),
      ]
      const schema = await own.createSchema({ providedId: 'sales' })
      const dataSource = await own.createDataSource(schema, { providedId: 'eu' })
      const empty = await own.createSchema({ providedId: 'empty' })
      for (const key of ['eu', String(dataSource.id)]) {
        assert.deepEqual(await resolve(own, { empty: key, [empty.id]: key }), {})
        for (const other of others) {
          assert.deepEqual(await resolve(other, { sales: key, [schema.id]: key }), {})
        }
      }
      for (const other of others) {
        const same = await other.createDataSource(await other.createSchema({ providedId: 'sales' }), {
          providedId: 'eu',
        })
        assert.deepEqual(await resolve(other, { sales: 'eu' }), { sales: shown(same) })
        assert.deepEqual(await resolve(other, { sales: String(dataSource.id) }), {})
      }
    })

    const spellings: Record<string, (id: string) => string> = {
      'a leading zero': (id) => `0${id}`,
      'a leading space': (id) => ` ${id}`,
      'a trailing space': (id) => `${id} `,
      'a trailing line feed': (id) => `${id}\n`,
      'a plus sign': (id) => `+${id}`,
      'a minus sign': (id) => `-${id}`,
      'a fraction': (id) => `${id}.0`,
      'an exponent': (id) => `${id}e0`,
      'an underscore': (id) => `${id}_0`,
      'a suffix': (id) => `${id}n`,
      hexadecimal: (id) => `0x${Number(id).toString(16)}`,
      'full-width digits': (id) => id.replace(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit))),
      'Arabic digits': (id) => id.replace(/\d/g, (digit) => String.fromCodePoint(0x660 + Number(digit))),
      'a trailing U+0000': (id) => `${id}\0`,
      '2 to the power of 64 added': (id) => String(2n ** 64n + BigInt(id)),
    }
    for (const [title, spell] of Object.entries(spellings)) {
      it(`are not found by an id with ${title}`, async () => {
        const own = await Registry.fresh(store)
        const schema = await own.createSchema({ providedId: 'sales' })
        const dataSource = await own.createDataSource(schema, { providedId: 'eu' })
        const [schemaKey, key] = [spell(String(schema.id)), spell(String(dataSource.id))]
        assert.deepEqual(await resolve(own, { [schemaKey]: 'eu', sales: key }), {})
        // The same text is a valid provided id, unless it contains a control character.
        if (/\p{Cc}/u.test(key)) return
        const other = await own.createSchema({ providedId: schemaKey })
        const ofOther = await own.createDataSource(other, { providedId: key })
        assert.deepEqual(await resolve(own, { [schemaKey]: key }), { [schemaKey]: shown(ofOther) })
      })
    }

    const odd: Record<string, string> = {
      'the name of a built-in property': '__proto__',
      'the name of another built-in property': 'constructor',
      'a leading zero': '040',
      'an exponent': '1e2',
      'more digits than a number can hold': '9'.repeat(255),
      'the largest 64-bit integer': '9223372036854775807',
      'the first integer that a double cannot hold': '9007199254740993',
      'a minus sign': '-1',
      zero: '0',
      quotes: `"'\`\\`,
      'backslashes before "u0000"': '\\u0000 \\\\u0000',
      'U+FFFD': 'a\uFFFDb',
      'characters outside the BMP': '😀'.repeat(255),
      'a line separator': '\u2028',
      'the wildcards of SQL': '%_?$1:a',
    }
    for (const [title, text] of Object.entries(odd)) {
      it(`may have provided ids with ${title}`, async () => {
        const own = await Registry.fresh(store)
        const schema = await own.createSchema({ providedId: text })
        const dataSource = await own.createDataSource(schema, { providedId: text })
        const mapping = JSON.stringify([[text, text]]).replace(/^\[\[(.*),(".*")\]\]$/s, '{$1:$2}')
        const { dataSources } = await ownerOf(await mapped(store, keyIn(own), mapping))
        assert.deepEqual(dataSources, [
          { schemaKey: text, schema: named(schema), dataSource: shown(dataSource) },
        ])
        const units = Array.from({ length: text.length }, (_, i) => text.charCodeAt(i).toString(16))
        const escaped = units.map((unit) => `\\u${unit.padStart(4, '0')}`).join('')
        const same = await ownerOf(await mapped(store, keyIn(own), `{"${escaped}":"${escaped}"}`))
        assert.deepEqual(same.dataSources, dataSources)
      })
    }

    it('are none for a key with U+0000, even if a replacement text is registered', async () => {
      const own = await Registry.fresh(store)
      for (const providedId of ['a\uFFFD', 'a', 'a\uFFFDb', 'a\\u0000', 'a\\ufffd']) {
        await own.createDataSource(await own.createSchema({ providedId }), { providedId })
      }
      for (const text of ['a\0', 'a\0b', '\0a', '\0']) {
        for (const mapping of [{ [text]: text }, { [text]: 'a\uFFFD' }, { 'a\uFFFD': text }, { a: text }]) {
          assert.deepEqual(await resolve(own, mapping), {}, JSON.stringify(mapping))
        }
      }
      const { dataSources } = await ownerOf(
        await mapped(store, keyIn(own), { 'a\0': 'a\uFFFD', 'a\uFFFD': 'a\uFFFD' }),
      )
      assert.deepEqual(
        dataSources.map(({ schemaKey }) => schemaKey),
        ['a\uFFFD'],
      )
    })

    it('follow changes of the mapping and the registry', async () => {
      const own = await Registry.fresh(store)
      const schema = await own.createSchema({ providedId: 'sales' })
      const eu = await own.createDataSource(schema, { providedId: 'eu' })
      const group = await mapped(store, keyIn(own), { sales: 'us' })
      assert.deepEqual(byKey(await ownerOf(group)), {})
      const us = await own.createDataSource(schema, { providedId: 'us' })
      assert.deepEqual(byKey(await ownerOf(group)), { sales: shown(us) })
      await store.userGroups.update({
        key: group,
        change: { mapping: '{"sales":"eu"}' },
        ...actor,
        now: 2000,
      })
      assert.deepEqual(byKey(await ownerOf(group)), { sales: shown(eu) })
      await store.userGroups.update({ key: group, change: { mapping: null }, ...actor, now: 3000 })
      assert.deepEqual(byKey(await ownerOf(group)), {})
    })

    it('are returned for each token with its own times, until its grace period ends', async () => {
      const own = await Registry.fresh(store)
      const schema = await own.createSchema({ providedId: 'sales' })
      const eu = await own.createDataSource(schema, { providedId: 'eu' })
      const us = await own.createDataSource(schema, { providedId: 'us' })
      const group = await mapped(store, keyIn(own), { sales: 'eu' })
      const { workspaceId, environment } = own.tenantScope
      const rotate = async (token: UserGroup['token'], now: number, oldTokenValidUntil: number) => {
        const result = await store.userGroups.rotate({
          ...actor,
          ...{ workspaceId, environment, target: { token: referenceOf(token) } },
          ...{ oldTokenValidUntil, issueToken: mint, now },
        })
        assert.ok('userGroup' in result)
        return result.userGroup.token
      }
      const second = await rotate(group.token, 2000, 9000)
      const third = await rotate(second, 3000, 3000)
      const find = (token: UserGroup['token'], now: number) =>
        store.userGroups.findByToken(workspaceId, environment, referenceOf(token), now)
      const assertFound = async (token: UserGroup['token'], now: number, expected: unknown) => {
        const found = await find(token, now)
        assert.ok(found)
        assert.deepEqual(plain(withoutState(found)), plain(expected))
      }
      const expect = async (dataSource: DataSource) => {
        const found = await store.userGroups.find(group)
        assert.ok(found)
        const userGroup = tokenless(found)
        const dataSources = [{ schemaKey: 'sales', schema: named(schema), dataSource: shown(dataSource) }]
        const old = { userGroup, issuedAt: 1000, validUntil: 9000, dataSources }
        await assertFound(group.token, 8999, old)
        assert.equal(await find(group.token, 9000), null)
        assert.equal(await find(second, 3000), null)
        const current = { userGroup, issuedAt: 3000, validUntil: null, dataSources }
        await assertFound(third, 99_000, current)
      }
      await expect(eu)
      // The mapping belongs to the user group, so it changes for all tokens.
      await store.userGroups.update({
        key: group,
        change: { mapping: '{"sales":"us"}' },
        ...actor,
        now: 4000,
      })
      await expect(us)
    })
  })
}
