import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { cases } from '../../support/cases.ts'
import type { Store } from '../../../src/domain/store.ts'
import { foldText } from '../../../src/domain/user-group/user-group-filter.ts'
import type { UserGroup } from '../../../src/domain/user-group/user-group.ts'
import { getOrCreate } from './mapped-user-groups.ts'
import { Registry } from './registry.ts'
import { searchAll } from './search-contract.ts'
import { actor, deletion } from './store-fixtures.ts'

/** More than the index waits for. */
const groups = 2100
const atOnce = 250
const searches = cases(6)

const alphabets = [
  'abcdefghij KLM',
  'éèÄößŁłØøİıæĐ',
  'αβγςσΣΆΌΠ',
  'абвгДЁЙ',
  'ＡＢｃ１２',
  '山田東京株式会社',
  'がぎカキﾊﾟ',
  '한국어서울',
  'شركةالنُّور',
  'שלוםעֲלֵי',
  'बाज़ारकि',
  '😀👍🏽🇫🇷',
  '\u{10400}\u{10428}x',
  'e\u0301o\u0308\u00ad\u200d',
  '%_\\\'"$1 ',
].map((letters) => Array.from(letters))

/** Returns numbers from 0 to below `end`, always the same ones. */
function numbers() {
  let state = 1
  return (end: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return (state >>> 8) % end
  }
}

/** Compares searches by text with a model, before and after user groups are in the search index. */
export function describeSearchIndex(name: string, openFreshStore: () => Promise<Store>): void {
  describe(`${name}: searching names of many scripts`, () => {
    const random = numbers()
    const pick = <Item>(items: readonly Item[]) => items[random(items.length)] as Item
    const randomText = (length: number) => {
      const letters = pick(alphabets)
      return Array.from({ length }, () => pick(letters)).join('')
    }
    const randomName = () => `n ${randomText(1 + random(4))} ${randomText(1 + random(8))}`.trim()
    const model = new Map<number, UserGroup>()
    let store: Store
    let own: Registry
    let elsewhere: Registry
    before(async () => {
      store = await openFreshStore()
      own = await Registry.fresh(store)
      elsewhere = new Registry(store, { ...own.tenantScope, environment: 'Testing' })
    })
    after(() => store.close())

    const write = async (registry: Registry, providedId: string) => {
      const change = { name: randomName() }
      const result = await getOrCreate(store, { ...registry.tenantScope, providedId }, { change })
      assert.ok(result.outcome === 'created' || result.outcome === 'updated')
      if (registry === own) model.set(result.userGroup.teamId, result.userGroup)
    }
    const writeAll = async (ids: readonly string[], registry = own) => {
      for (let i = 0; i < ids.length; i += atOnce)
        await Promise.all(ids.slice(i, i + atOnce).map((id) => write(registry, id)))
    }
    const deleteAll = async (all: readonly UserGroup[]) => {
      for (let i = 0; i < all.length; i += atOnce)
        await Promise.all(all.slice(i, i + atOnce).map((group) => store.userGroups.delete(deletion(group))))
      for (const { teamId } of all) model.delete(teamId)
    }
    /** Returns a part of a name or id, in another spelling. */
    const randomPart = () => {
      const { name, providedId } = pick([...model.values()])
      const characters = Array.from(random(3) === 0 ? providedId : name)
      const start = random(characters.length)
      const part = characters.slice(start, start + 1 + random(6)).join('')
      return pick([part, part.toUpperCase(), part.toLowerCase(), part.normalize('NFKD'), `${part}q`])
    }
    const compare = async () => {
      const all = [...model.values()]
        .sort((a, b) => a.teamId - b.teamId)
        .map(({ teamId, name, providedId }) => ({ teamId, name: foldText(name), id: foldText(providedId) }))
      for (let i = 0; i < searches; i++) {
        const part = randomPart()
        const folded = foldText(part)
        const inName = ({ name }: (typeof all)[number]) => name.includes(folded)
        const inText = (group: (typeof all)[number]) => inName(group) || group.id.includes(folded)
        for (const [filter, isFound] of [
          [{ namePart: part }, inName],
          [{ textPart: part }, inText],
        ] as const) {
          const found = await searchAll(store, own, filter, 200)
          assert.deepEqual(
            found.map(({ teamId }) => teamId),
            all.filter(isFound).map(({ teamId }) => teamId),
            JSON.stringify(filter),
          )
        }
      }
      const listed = await searchAll(store, own, {}, 500)
      assert.deepEqual(
        listed.map(({ teamId }) => teamId),
        all.map(({ teamId }) => teamId),
      )
    }

    it('finds the same as the model before the index has them', async () => {
      await writeAll(Array.from({ length: groups }, (_, i) => `${randomText(3)} ${i}`))
      await writeAll(
        Array.from({ length: 200 }, (_, i) => `elsewhere ${i}`),
        elsewhere,
      )
      await compare()
    })

    it('finds the same after two simultaneous updates of the index', async () => {
      const counts = await Promise.all([
        store.userGroupSearch.updateIndex(),
        store.userGroupSearch.updateIndex(),
      ])
      assert.ok(Math.max(...counts) >= groups, counts.join())
      await compare()
      assert.equal(await store.userGroupSearch.updateIndex(), 0)
    })

    it('finds the same after changes that the index lacks, and after it has them', async () => {
      const renamed = [...model.values()].filter((_, i) => i % 7 === 0)
      await writeAll(renamed.map(({ providedId }) => providedId))
      const deleted = [...model.values()].filter((_, i) => i % 20 === 1)
      await deleteAll(deleted)
      for (const group of deleted.filter((_, i) => i % 4 === 0)) {
        const { teamId } = group
        await store.userGroups.restore({ ...actor, now: 9000, ...own.tenantScope, teamId, deletedAfter: 0 })
        model.set(teamId, group)
      }
      await compare()
      await writeAll([...model.values()].map(({ providedId }) => providedId))
      await writeAll(Array.from({ length: 200 }, (_, i) => `later ${i}`))
      assert.ok((await store.userGroupSearch.updateIndex()) > groups)
      await compare()
    })
  })
}
