import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import type { ExpectedUserGroup } from '../../../src/domain/user-group/user-group-store.ts'
import { locationOf } from '../../../src/domain/user-group/location.ts'
import type { Store } from '../../../src/domain/store.ts'
import type { Author } from '../../../src/domain/audit/audit-event.ts'
import type { UserGroup, UserGroupKey } from '../../../src/domain/user-group/user-group.ts'
import { getOrCreate, keyIn } from './mapped-user-groups.ts'
import { Registry } from './registry.ts'
import { referenceOf, mint, actor, plain } from './store-fixtures.ts'
import { userGroupOf } from './created-user-group.ts'

const other: Author = 'cli:somebody'

/** Tests the revision of a user group and operations that expect a revision. */
export function describeRevisions(name: string, openFreshStore: () => Promise<Store>): void {
  describe(`${name}: the revision of a user group`, () => {
    let store: Store
    let own: Registry
    before(async () => {
      store = await openFreshStore()
      own = await Registry.fresh(store)
    })
    after(() => store.close())

    const created = async (key = keyIn(own)): Promise<UserGroup> => {
      const result = await getOrCreate(store, key)
      return userGroupOf(result)
    }
    const revisionOf = async (key: UserGroupKey) => (await store.userGroups.find(key))?.revision
    const rotate = (group: UserGroup, more: object = {}) =>
      store.userGroups.rotate({
        ...actor,
        ...own.tenantScope,
        ...{
          target: { token: referenceOf(group.token) },
          oldTokenValidUntil: 2000,
          issueToken: mint,
          now: 2000,
        },
        ...more,
      })
    const remove = (key: UserGroupKey) => store.userGroups.delete({ key, ...actor, now: 3000 })

    describe('increases by one', () => {
      const changes: Record<string, (group: UserGroup) => Promise<unknown>> = {
        'when the name changes': (group) =>
          store.userGroups.update({ key: group, change: { name: 'B' }, ...actor, now: 2000 }),
        'when name, mapping and properties change': (group) =>
          store.userGroups.update({
            ...{ key: group, ...actor, now: 2000 },
            change: { name: 'B', mapping: '{"a":"b"}', properties: '{"a":1}' },
          }),
        'when get or create changes the properties': (group) =>
          getOrCreate(store, group, { change: { properties: '{"a":1}' } }),
        'when the token is rotated': (group) => rotate(group),
        'when the token is rotated by the id of the user group': ({ providedId, ...group }) =>
          rotate({ ...group, providedId }, { target: { providedId } }),
        'when it is suspended': (group) =>
          store.userGroups.suspend({ ...actor, key: group, suspended: true, now: 2000 }),
        'when it is deleted and restored': async (group) => {
          assert.equal(await remove(group), 'deleted')
          await store.userGroups.restore({
            ...actor,
            now: 9000,
            ...own.tenantScope,
            teamId: group.teamId,
            deletedAfter: 0,
          })
        },
      }
      for (const [title, change] of Object.entries(changes)) {
        it(title, async () => {
          const group = await created()
          assert.equal(group.revision, 1)
          await change(group)
          const changed = await store.userGroups.find(group)
          assert.equal(changed?.revision, 2)
          assert.notDeepEqual(
            plain({ ...changed, revision: 1 }),
            title.includes('restored') ? null : plain(group),
          )
        })
      }

      it('when it is resumed', async () => {
        const group = await created()
        await store.userGroups.suspend({ ...actor, key: group, suspended: true, now: 2000 })
        await store.userGroups.suspend({ ...actor, key: group, suspended: false, now: 3000 })
        assert.deepEqual(plain(await store.userGroups.find(group)), plain({ ...group, revision: 3 }))
      })
    })

    describe('stays the same', () => {
      const idempotency = {
        keyHash: hash('sha256', 'a', 'buffer'),
        fingerprint: Buffer.alloc(32),
        expiresAt: 9000,
      }
      const noChanges: Record<string, (group: UserGroup) => Promise<{ outcome: string }>> = {
        'when an update changes nothing': (group) =>
          store.userGroups.update({
            ...actor,
            ...{ key: group, author: other, now: 2000 },
            change: { name: 'A', mapping: '{"a":"\\u0062"}', properties: '{ "n": 1.0 }' },
          }),
        'when an update is empty': (group) =>
          store.userGroups.update({ ...actor, key: group, change: {}, author: other, now: 2000 }),
        'when get or create changes nothing': (group) =>
          getOrCreate(store, group, { author: other, now: 2000 }),
        'when a rotation is retried': (group) => rotate(group, { idempotency }),
        'when a superseded token is rotated': (group) => rotate(group),
        'when it is already suspended': (group) =>
          store.userGroups.suspend({ ...actor, key: group, suspended: true, now: 3000 }),
      }
      it('when nothing changes', async () => {
        const key = keyIn(own)
        const change = { name: 'A', mapping: '{"a":"b"}', properties: '{"n":1}' }
        const group = userGroupOf(await getOrCreate(store, key, { change }))
        await rotate(group, { idempotency })
        await store.userGroups.suspend({ ...actor, key, suspended: true, now: 2000 })
        const before = await store.userGroups.find(key)
        assert.equal(before?.revision, 3)
        for (const [title, attempt] of Object.entries(noChanges)) {
          const { outcome } = await attempt(group)
          assert.ok(['unchanged', 'replayed', 'superseded'].includes(outcome), `${title}: ${outcome}`)
          assert.deepEqual(plain(await store.userGroups.find(key)), plain(before), title)
        }
      })

      it('after the first of several simultaneous identical changes', async () => {
        const group = await created()
        const change = { name: 'B', mapping: '{"a":"b"}', properties: null }
        const results = await Promise.all(
          Array.from({ length: 24 }, (_, i) =>
            i % 2 === 0
              ? store.userGroups.update({ key: group, change, ...actor, now: 2000 })
              : getOrCreate(store, group, { change }),
          ),
        )
        assert.deepEqual(results.filter(({ outcome }) => outcome === 'updated').length, 1)
        assert.equal(await revisionOf(group), 2)
      })
    })

    it('comes with the author and time of the last change of name, mapping or properties', async () => {
      const group = await created()
      assert.deepEqual([group.updatedBy, group.updatedAt], [actor.author, 1000])
      const lastChange = async () => {
        const found = await store.userGroups.find(group)
        return [found?.updatedBy, found?.updatedAt]
      }
      await rotate(group)
      await store.userGroups.suspend({ ...actor, key: group, suspended: true, now: 3000 })
      assert.deepEqual(await lastChange(), [actor.author, 1000])
      await store.userGroups.update({
        ...actor,
        key: group,
        change: { name: 'B' },
        author: other,
        now: 4000,
      })
      assert.deepEqual(await lastChange(), [other, 4000])
      await getOrCreate(store, group, { change: { name: 'C' }, ...actor, now: 5000 })
      assert.deepEqual(await lastChange(), [actor.author, 5000])
    })

    it('is found by team id, only in its workspace and environment', async () => {
      const group = await created()
      const { workspaceId, environment } = own.tenantScope
      assert.deepEqual(
        plain(await store.userGroups.findById(workspaceId, environment, group.teamId)),
        plain(group),
      )
      assert.equal(await store.userGroups.findById(workspaceId, 'Testing', group.teamId), null)
      assert.equal(await store.userGroups.findById(workspaceId + 1, environment, group.teamId), null)
      assert.equal(await store.userGroups.findById(workspaceId, environment, group.teamId + 100_000), null)
      assert.equal(await remove(group), 'deleted')
      assert.equal(await store.userGroups.findById(workspaceId, environment, group.teamId), null)
    })

    interface Operation {
      readonly run: (key: UserGroupKey, expected: ExpectedUserGroup) => Promise<string>
      readonly done: string
      /** Outcome for the other simultaneous requests. */
      readonly late: string
    }
    const outcomeOf = async (result: Promise<{ outcome: string }>) => (await result).outcome
    const operations: Record<string, Operation> = {
      'an update': {
        run: (key, expected) =>
          outcomeOf(
            store.userGroups.update({
              ...actor,
              key,
              expected,
              change: { name: 'B' },
              author: other,
              now: 5000,
            }),
          ),
        done: 'updated',
        late: 'revision_mismatch',
      },
      'a suspension': {
        run: (key, expected) =>
          outcomeOf(store.userGroups.suspend({ ...actor, key, expected, suspended: true, now: 5000 })),
        done: 'updated',
        late: 'revision_mismatch',
      },
      'a rotation': {
        run: ({ workspaceId, environment, providedId }, expected) =>
          outcomeOf(
            store.userGroups.rotate({
              ...actor,
              ...{ workspaceId, environment, target: { providedId, expected } },
              ...{ oldTokenValidUntil: 5000, issueToken: mint, now: 5000 },
            }),
          ),
        done: 'rotated',
        late: 'revision_mismatch',
      },
      'a deletion': {
        run: (key, expected) =>
          store.userGroups.delete({ ...actor, key, expected, author: other, now: 5000 }),
        done: 'deleted',
        late: 'not_found',
      },
    }
    for (const [title, { run, done, late }] of Object.entries(operations)) {
      describe(`${title} that expects a user group`, () => {
        /** Asserts that the operation is refused and changes nothing. */
        const isRefused = async (
          group: UserGroup,
          expected: ExpectedUserGroup,
          outcome: string,
          key: UserGroupKey = group,
        ) => {
          const kept = async () =>
            plain([
              await store.userGroups.find(group),
              await store.userGroupHistory.listVersions({
                ...own.tenantScope,
                ...locationOf(group),
                beforeRevision: null,
                limit: 9,
              }),
              await store.userGroupHistory.listDeleted({
                ...{ ...own.tenantScope, deletedAfter: 0, afterTeamId: group.teamId - 1, limit: 1 },
              }),
            ])
          const before = await kept()
          assert.equal(await run(key, expected), outcome)
          assert.deepEqual(await kept(), before)
        }

        it('succeeds when team id and revision match', async () => {
          const [first, second] = [await created(), await created()]
          assert.equal(await run(first, { teamId: first.teamId }), done)
          await rotate(second)
          assert.equal(await run(second, { teamId: second.teamId, revision: 2 }), done)
        })

        it('reports not found for another team id', async () => {
          const [group, another] = [await created(), await created()]
          const { teamId } = another
          await isRefused(group, { teamId }, 'not_found')
          await isRefused(group, { teamId, revision: group.revision }, 'not_found')
          await isRefused(group, { teamId, revision: group.revision + 1 }, 'not_found')
        })

        it('reports a mismatch for another revision', async () => {
          const group = await created()
          await rotate(group)
          for (const revision of [1, 3, 0])
            await isRefused(group, { teamId: group.teamId, revision }, 'revision_mismatch')
          // The outcome is the same if the operation would change nothing.
          await store.userGroups.update({ key: group, change: { name: 'B' }, ...actor, now: 2000 })
          await store.userGroups.suspend({ ...actor, key: group, suspended: true, now: 2000 })
          await isRefused(group, { teamId: group.teamId, revision: 2 }, 'revision_mismatch')
        })

        it('reports not found in another workspace or environment', async () => {
          const group = await created()
          const { teamId, revision } = group
          const { workspaceId, environment, providedId } = group
          for (const key of [
            { workspaceId, environment: 'Testing' as const, providedId },
            { workspaceId: workspaceId + 1, environment, providedId },
            keyIn(own),
          ])
            await isRefused(group, { teamId, revision }, 'not_found', key)
        })

        it('succeeds once when several requests expect the same revision', async () => {
          const group = await created()
          const { teamId, revision } = group
          const outcomes = await Promise.all(
            Array.from({ length: 24 }, () => run(group, { teamId, revision })),
          )
          assert.equal(outcomes.filter((outcome) => outcome === done).length, 1)
          assert.equal(outcomes.filter((outcome) => outcome === late).length, 23)
          assert.equal(await revisionOf(group), done === 'deleted' ? undefined : 2)
        })
      })
    }
  })
}
