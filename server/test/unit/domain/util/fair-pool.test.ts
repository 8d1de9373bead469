import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FairPool } from '../../../../src/domain/util/fair-pool.ts'

/** Takes places one by one, and returns how many the workspace holds. */
function takeAll(pool: FairPool, workspaceId: number): number {
  const share = pool.shareOf(workspaceId)
  while (share.take());
  return share.held
}

test('one workspace takes half of a pool, and the next ones half of the rest', () => {
  const pool = new FairPool(64)
  assert.deepEqual(
    [1, 2, 3, 4].map((workspaceId) => takeAll(pool, workspaceId)),
    [32, 16, 8, 4],
  )
  assert.equal(pool.isFull, false)
})

test('a workspace that waits gets the places that another one releases, until both have as many', () => {
  const pool = new FairPool(60)
  takeAll(pool, 1)
  for (let i = 0; i < 100; i++) {
    takeAll(pool, 2)
    pool.shareOf(1).release()
    takeAll(pool, 1)
  }
  assert.deepEqual([pool.shareOf(1).held, pool.shareOf(2).held], [20, 20])
})

test('a workspace without a place gets one while any is free', () => {
  for (const size of [1, 2, 3, 10]) {
    const pool = new FairPool(size)
    const got = Array.from({ length: size }, (_, workspaceId) => takeAll(pool, workspaceId))
    assert.equal(got[0], Math.ceil(size / 2))
    assert.equal(
      got.reduce((sum, held) => sum + held, 0),
      size,
    )
    assert.ok(pool.isFull)
    assert.equal(pool.shareOf(size).take(), false)
  }
  assert.equal(new FairPool(0).shareOf(1).take(), false)
})

test('places of different sizes count in full', () => {
  const pool = new FairPool(100)
  assert.equal(pool.shareOf(1).take(51), false)
  assert.equal(pool.shareOf(1).take(40), true)
  assert.equal(pool.shareOf(1).take(11), false)
  assert.equal(pool.shareOf(2).take(30), true)
  assert.equal(pool.taken, 70)
  pool.shareOf(1).release(40)
  assert.equal(pool.shareOf(1).take(35), true)
})
