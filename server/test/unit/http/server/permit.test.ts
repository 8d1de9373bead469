import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Permit, SharedResources } from '../../../../src/http/server/permit.ts'

/** Returns a permit of a workspace. */
function permitOf(shared: SharedResources, workspaceId: number): Permit {
  const permit = new Permit(shared)
  permit.assign(workspaceId)
  return permit
}

/** Gets permits until one fails, and returns how many did not. */
function countOf(next: () => boolean): number {
  let count = 0
  while (next()) count++
  return count
}

test('one workspace has at most half of the requests in flight', () => {
  const shared = new SharedResources()
  assert.equal(
    countOf(() => permitOf(shared, 1).begin()),
    1000,
  )
  assert.equal(
    countOf(() => permitOf(shared, 2).begin()),
    500,
  )
  // Clients that are not authenticated share what one workspace may have.
  assert.equal(
    countOf(() => new Permit(shared).begin()),
    250,
  )
  assert.throws(() => permitOf(shared, 1).during(() => 'work'), { code: 'unavailable' })
  assert.equal(
    permitOf(shared, 3).during(() => 'work'),
    'work',
  )
})

test('the bodies of one workspace take at most half of the memory', () => {
  const shared = new SharedResources()
  const reserve = (workspaceId: number) => permitOf(shared, workspaceId).reserve(1024 * 1024)
  assert.equal(
    countOf(() => reserve(1)),
    32,
  )
  assert.equal(permitOf(shared, 1).reserve(16 * 1024), true)
  assert.equal(
    countOf(() => reserve(2)),
    16,
  )
  assert.equal(reserve(3), true)
})

test('a request that is authenticated while it is in flight counts for its workspace from then on', () => {
  const shared = new SharedResources()
  const permit = new Permit(shared)
  assert.ok(permit.begin())
  assert.deepEqual([shared.inFlight.shareOf(null).held, shared.inFlight.shareOf(1).held], [1, 0])
  permit.assign(1)
  assert.deepEqual([shared.inFlight.shareOf(null).held, shared.inFlight.shareOf(1).held], [0, 1])
  permit.release()
  assert.equal(shared.inFlight.taken, 0)
  countOf(() => permitOf(shared, 1).begin())
  const other = new Permit(shared)
  assert.ok(other.begin())
  assert.throws(() => other.assign(1), { code: 'unavailable' })
  assert.equal(shared.inFlight.taken, 1000)
})
