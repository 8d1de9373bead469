import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Store } from '../../../src/domain/store.ts'
import { endedSubject, type SessionSubject } from '../../../src/domain/viewer-session/ended-session.ts'
import { generateSigningKey, type SigningKey } from '../../../src/domain/viewer-session/signing-key.ts'
import type { AddSigningKey, IssuedSession } from '../../../src/domain/viewer-session/viewer-session-store.ts'
import { locationOf } from '../../../src/domain/user-group/location.ts'
import type { UserGroup } from '../../../src/domain/user-group/user-group.ts'
import { userGroupOf } from './created-user-group.ts'
import { getOrCreate, keyIn } from './mapped-user-groups.ts'
import { Registry } from './registry.ts'
import { actor, deletion } from './store-fixtures.ts'

const all: SessionSubject[] = ['all', { viewerId: 'ada' }, { viewerId: 'ada', sessionId: 's1' }]

/** Tests signing keys and the end of viewer sessions. */
export function describeViewerSessions(name: string, openFreshStore: () => Promise<Store>): void {
  describe(`${name}: viewer sessions`, () => {
    let store: Store
    let own: Registry
    before(async () => {
      store = await openFreshStore()
    })
    after(() => store.close())

    const fresh = async () => {
      own = await Registry.fresh(store)
      return userGroupOf(await getOrCreate(store, keyIn(own)))
    }
    const newKey = (over: Partial<SigningKey> = {}): SigningKey => {
      const { privateKey, ...generated } = generateSigningKey(own.tenantScope)
      return {
        ...own.tenantScope,
        ...generated,
        privateKey: { keyId: 'test', sealed: Buffer.from(privateKey) },
        ...{ createdAt: 1000, signsFrom: 1000, retiredAt: null },
        ...over,
      }
    }
    const add = (key: SigningKey, over: Partial<AddSigningKey> = {}) =>
      store.viewerSessions.addKey({
        ...actor,
        ...{ key, expectedKeyId: null, othersRetiredAt: 1000, now: 1000 },
        ...over,
      })
    const sessionOf = (
      group: UserGroup,
      key: SigningKey,
      over: Partial<IssuedSession> = {},
    ): IssuedSession => ({
      ...own.tenantScope,
      ...locationOf(group),
      ...{ signingKeyId: key.signingKeyId, subjects: all.map(endedSubject), issuedAt: 5000, now: 6000 },
      ...over,
    })
    const end = (group: UserGroup, subject: SessionSubject, now: number, revision?: number) =>
      store.userGroups.endSessions({
        ...actor,
        ...{ key: group, subject, now },
        ...(revision !== undefined && { expected: { teamId: group.teamId, revision } }),
      })
    const typesOf = async () => {
      const events = await store.audit.list({
        ...own.tenantScope,
        ...{ since: 0, beforeEventId: 'ffffffff-ffff-ffff-ffff-ffffffffffff', limit: 100 },
      })
      return events.map(({ action, details, userGroup }) => [action, details, userGroup?.teamId])
    }

    it('keeps the keys of each workspace and environment in order', async () => {
      await fresh()
      const first = newKey()
      assert.equal(await add(first), 'added')
      assert.equal(await add(newKey()), 'superseded')
      const second = newKey({ createdAt: 2000, signsFrom: 3000 })
      const expected = { expectedKeyId: first.signingKeyId, othersRetiredAt: 9000, now: 2000 }
      assert.equal(await add(second, expected), 'added')
      assert.equal(await add(newKey(), expected), 'superseded')
      assert.deepEqual(await store.viewerSessions.listKeys(own.tenantScope), [
        { ...first, retiredAt: 9000 },
        second,
      ])
      const { workspaceId } = own.tenantScope
      const other = own.tenantScope.environment === 'Customer' ? 'Testing' : 'Customer'
      assert.deepEqual(await store.viewerSessions.listKeys({ workspaceId, environment: other }), [])
      assert.deepEqual(
        (await typesOf()).filter(([action]) => String(action).startsWith('signing_key')),
        [
          ['signing_key.rotated', JSON.stringify({ signing_key_id: second.signingKeyId }), undefined],
          ['signing_key.created', JSON.stringify({ signing_key_id: first.signingKeyId }), undefined],
        ],
      )
    })

    it('retires a key at the time of the first rotation after it, or earlier after a theft', async () => {
      await fresh()
      const [first, second, third, fourth] = [newKey(), newKey(), newKey(), newKey()]
      const retirements = async () =>
        new Map(
          (await store.viewerSessions.listKeys(own.tenantScope)).map((key) => [
            key.signingKeyId,
            key.retiredAt,
          ]),
        )
      await add(first)
      await add(second, { expectedKeyId: first.signingKeyId, othersRetiredAt: 9000 })
      await add(third, { expectedKeyId: second.signingKeyId, othersRetiredAt: 12_000 })
      const afterRotations = await retirements()
      assert.deepEqual(
        [first, second, third].map((key) => afterRotations.get(key.signingKeyId)),
        [9000, 12_000, null],
      )
      await add(fourth, { expectedKeyId: third.signingKeyId, othersRetiredAt: 5000, now: 5000 })
      const afterTheft = await retirements()
      assert.deepEqual(
        [first, second, third, fourth].map((key) => afterTheft.get(key.signingKeyId)),
        [5000, 5000, 5000, null],
      )
    })

    it('adds one of the keys that are added at once', async () => {
      await fresh()
      const outcomes = await Promise.all(Array.from({ length: 5 }, () => add(newKey())))
      assert.deepEqual(outcomes.toSorted(), ['added', ...Array<string>(4).fill('superseded')])
    })

    it('refuses a key that is encrypted with a retired secret key', async () => {
      await fresh()
      await store.secretKeys.retire('lost')
      const key = newKey({ privateKey: { keyId: 'lost', sealed: Buffer.from('key') } })
      assert.deepEqual(await add(key), { outcome: 'secret_key_retired', keyId: 'lost' })
      assert.deepEqual(await store.viewerSessions.listKeys(own.tenantScope), [])
    })

    it('ends the sessions of a key that is retired at once, and makes cached responses stale', async () => {
      const group = await fresh()
      const [stolen, next] = [newKey(), newKey({ signsFrom: 5500 })]
      await add(stolen)
      const { workspaceId, environment } = own.tenantScope
      const { state } = (await store.userGroups.findActive(workspaceId, environment, locationOf(group))) ?? {}
      assert.ok(state)
      assert.equal(await store.userGroups.isUnchanged(workspaceId, environment, state), true)
      assert.equal(await store.viewerSessions.isOver(sessionOf(group, stolen)), false)
      await add(next, { expectedKeyId: stolen.signingKeyId, othersRetiredAt: 5500, now: 5500 })
      assert.equal(await store.userGroups.isUnchanged(workspaceId, environment, state), false)
      assert.equal(await store.viewerSessions.isOver(sessionOf(group, stolen, { now: 5499 })), false)
      assert.equal(await store.viewerSessions.isOver(sessionOf(group, stolen, { now: 5500 })), true)
      assert.equal(await store.viewerSessions.isOver(sessionOf(group, next)), false)
      assert.equal(await store.viewerSessions.isOver(sessionOf(group, newKey())), true)
      assert.equal((await typesOf())[0]?.[0], 'signing_key.retired')
    })

    for (const subject of all) {
      const shown = JSON.stringify(subject)
      it(`ends the sessions of ${shown} that were issued until now`, async () => {
        const group = await fresh()
        const key = newKey()
        await add(key)
        const { workspaceId, environment } = own.tenantScope
        const found = await store.userGroups.findActive(workspaceId, environment, locationOf(group))
        assert.ok(found)
        const ended = await end(group, subject, 5000)
        assert.ok('userGroup' in ended)
        assert.equal(ended.userGroup.revision, group.revision + 1)
        assert.equal(await store.userGroups.isUnchanged(workspaceId, environment, found.state), false)
        const isOver = (over: Partial<IssuedSession>) =>
          store.viewerSessions.isOver(sessionOf(group, key, over))
        assert.equal(await isOver({ issuedAt: 5000 }), true)
        assert.equal(await isOver({ issuedAt: 5001 }), false)
        const others = ['all', { viewerId: 'bob' }, { viewerId: 'bob', sessionId: 's2' }] as const
        assert.equal(await isOver({ subjects: others.map(endedSubject) }), subject === 'all')
        // An earlier end does not replace a later one.
        await end(group, subject, 4000)
        assert.equal(await isOver({ issuedAt: 5000 }), true)
        const [event] = await typesOf()
        const details =
          subject === 'all'
            ? null
            : JSON.stringify({ viewer_id: 'ada', ...('sessionId' in subject && { session_id: 's1' }) })
        assert.deepEqual(event, ['user_group.sessions_ended', details, group.teamId])
        const { userGroup } = found
        assert.deepEqual(
          await store.userGroupHistory.listVersions({
            ...locationOf(userGroup),
            workspaceId,
            beforeRevision: null,
            limit: 10,
          }),
          [],
        )
      })
    }

    it('ends no session of an unknown user group or of another revision', async () => {
      const group = await fresh()
      assert.deepEqual(await end(group, 'all', 5000, group.revision + 1), { outcome: 'revision_mismatch' })
      await store.userGroups.delete(deletion(group))
      assert.deepEqual(await end(group, 'all', 5000), { outcome: 'not_found' })
      const key = newKey()
      await add(key)
      assert.equal(await store.viewerSessions.isOver(sessionOf(group, key)), false)
    })

    it('finds a user group unless it is suspended, deleted or of another environment', async () => {
      const group = await fresh()
      const { workspaceId, environment } = own.tenantScope
      const find = (over = environment) => store.userGroups.findActive(workspaceId, over, locationOf(group))
      assert.equal((await find())?.userGroup.providedId, group.providedId)
      assert.equal(await find(environment === 'Customer' ? 'Testing' : 'Customer'), null)
      const suspend = (suspended: boolean) =>
        store.userGroups.suspend({ ...actor, key: group, suspended, now: 2000 })
      await suspend(true)
      assert.equal(await find(), null)
      await suspend(false)
      assert.ok(await find())
      await store.userGroups.delete(deletion(group))
      assert.equal(await find(), null)
    })

    it('deletes what no session can need any more', async () => {
      const group = await fresh()
      const [old, key] = [newKey(), newKey()]
      await add(old)
      await add(key, { expectedKeyId: old.signingKeyId, othersRetiredAt: 700, now: 700 })
      await end(group, { viewerId: 'ada' }, 700)
      await end(group, { viewerId: 'bob' }, 701)
      assert.ok((await store.viewerSessions.deleteExpired(700)) >= 2)
      assert.deepEqual(await store.viewerSessions.listKeys(own.tenantScope), [key])
      const isOver = (viewerId: string) =>
        store.viewerSessions.isOver(
          sessionOf(group, key, { subjects: [endedSubject({ viewerId })], issuedAt: 1 }),
        )
      assert.deepEqual([await isOver('ada'), await isOver('bob')], [false, true])
    })
  })
}
