import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import type { RotateUserGroupToken, TokenReference } from '../../../src/domain/user-group/user-group-store.ts'
import type { Store } from '../../../src/domain/store.ts'
import { deleteExpired } from '../../../src/domain/expiry.ts'
import type { UserGroupChange, UserGroupKey } from '../../../src/domain/user-group/user-group.ts'
import {
  count,
  deletion,
  freshKey,
  mint,
  actor,
  plain,
  referenceOf,
  text,
  unknownTokenOf,
  noneExpired,
} from './store-fixtures.ts'

/** Tests the idempotency keys of rotations. */
export function describeIdempotencyKeys(name: string, openFreshStore: () => Promise<Store>): void {
  describe(`${name}: idempotency keys`, () => {
    let store: Store
    before(async () => {
      store = await openFreshStore()
    })
    after(() => store.close())

    const created = async (key: UserGroupKey, change: UserGroupChange = { name: 'A name' }) => {
      const creation = { key, change, mayWrite: true, issueToken: mint, ...actor, now: 1000 }
      const result = await store.userGroups.getOrCreate(creation)
      assert.ok('userGroup' in result)
      return result.userGroup
    }
    const rotate = (token: TokenReference, command: Partial<RotateUserGroupToken> = {}) =>
      store.userGroups.rotate({
        ...{ ...actor, workspaceId: 1, environment: 'Customer', target: { token } },
        ...{ oldTokenValidUntil: 2000, issueToken: mint, now: 2000 },
        ...command,
      })
    const idempotency = (key: string, fingerprint = 'body', expiresAt = 10_000) => ({
      keyHash: hash('sha256', key, 'buffer'),
      fingerprint: hash('sha256', fingerprint, 'buffer'),
      expiresAt,
    })

    it('return the first response to a retry, even after later changes', async () => {
      const group = await created(freshKey(), { name: 'Before' })
      const key = idempotency(group.providedId)
      const first = await rotate(referenceOf(group.token), { idempotency: key })
      assert.ok('userGroup' in first)
      await store.userGroups.update({ key: group, change: { name: 'After' }, ...actor, now: 3000 })
      await rotate(referenceOf(first.userGroup.token))
      const again = await rotate(referenceOf(group.token), { idempotency: key })
      assert.equal(again.outcome, 'replayed')
      assert.ok('userGroup' in again)
      assert.deepEqual(plain(again.userGroup), plain(first.userGroup))
    })

    it('are refused with another body', async () => {
      const group = await created(freshKey())
      await rotate(referenceOf(group.token), { idempotency: idempotency(group.providedId) })
      const reused = await rotate(referenceOf(group.token), {
        idempotency: idempotency(group.providedId, 'another body'),
      })
      assert.deepEqual(reused, { outcome: 'idempotency_key_reused' })
    })

    it('belong to one user group', async () => {
      const groups = await Promise.all([
        created(freshKey()),
        created(freshKey()),
        created({ ...freshKey(), environment: 'Testing' }),
      ])
      for (const outcome of ['rotated', 'replayed']) {
        for (const { environment, providedId, token } of groups) {
          const key = idempotency('the same key', providedId)
          const result = await rotate(referenceOf(token), { environment, idempotency: key })
          assert.equal(result.outcome, outcome)
          assert.ok('userGroup' in result)
          assert.equal(result.userGroup.providedId, providedId)
        }
      }
    })

    it('belong to one user group also when it is rotated by its id', async () => {
      const [group, other] = [await created(freshKey()), await created(freshKey())]
      const rotateById = ({ providedId }: UserGroupKey) =>
        rotate(unknownTokenOf(group), { target: { providedId }, idempotency: idempotency('by id') })
      assert.equal((await rotateById(group)).outcome, 'rotated')
      assert.equal((await rotateById(other)).outcome, 'rotated')
      assert.equal((await rotateById(group)).outcome, 'replayed')
    })

    it('are not stored when nothing is rotated', async () => {
      const group = await created(freshKey())
      const key = idempotency(group.providedId, 'one')
      assert.equal((await rotate(unknownTokenOf(group), { idempotency: key })).outcome, 'not_found')
      const other = idempotency(group.providedId, 'two')
      assert.equal((await rotate(referenceOf(group.token), { idempotency: other })).outcome, 'rotated')
    })

    it('are deleted with their user group', async () => {
      const group = await created(freshKey())
      const key = idempotency(group.providedId)
      await rotate(referenceOf(group.token), { idempotency: key })
      await store.userGroups.delete(deletion(group))
      assert.equal((await rotate(referenceOf(group.token), { idempotency: key })).outcome, 'not_found')
    })

    it('are deleted when they expire', async () => {
      const group = await created(freshKey())
      const key = idempotency(group.providedId, 'body', 10_000)
      const first = await rotate(referenceOf(group.token), { idempotency: key })
      const late = { idempotency: key, now: 9999, oldTokenValidUntil: 9999 }
      assert.equal((await rotate(referenceOf(group.token), late)).outcome, 'replayed')
      assert.ok('userGroup' in first)
      const expired = {
        idempotency: { ...key, expiresAt: 20_000 },
        now: 10_000,
        oldTokenValidUntil: 10_000,
      }
      assert.equal((await rotate(referenceOf(first.userGroup.token), expired)).outcome, 'rotated')
      assert.ok((await deleteExpired(store, { ...noneExpired, now: 20_000 })) >= 1)
      assert.equal(await deleteExpired(store, { ...noneExpired, now: 20_000 }), 0)
    })

    it('rotate once when several requests use one at once', async () => {
      const group = await created(freshKey())
      const key = idempotency(group.providedId)
      const results = await Promise.all(
        Array.from({ length: 24 }, () => rotate(referenceOf(group.token), { idempotency: key })),
      )
      assert.deepEqual(count(results), { rotated: 1, replayed: 23 })
      const tokens = results.map((result) => 'userGroup' in result && text(result.userGroup.token.sealed))
      assert.equal(new Set(tokens).size, 1)
    })
  })
}
