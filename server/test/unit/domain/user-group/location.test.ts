import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { bucketCount, bucketOf, locationOf } from '../../../../src/domain/user-group/location.ts'

describe('the bucket of a user group', () => {
  it('is computed from workspace, environment and provided id, and never changes', () => {
    // The first four hexadecimal digits of `printf '1/Customer/customer-42' | sha256sum`, modulo 1024, and so on.
    for (const [workspaceId, environment, providedId, bucket] of [
      [1, 'Customer', 'customer-42', 0x4162 % 1024],
      [1, 'Testing', 'customer-42', 0xbcde % 1024],
      [2, 'Customer', 'customer-42', 71],
      [1, 'Customer', 'ä/😀 ', 0x0c67 % 1024],
    ] as const) {
      assert.equal(bucketOf({ workspaceId, environment, providedId }), bucket)
      const userGroup = { workspaceId, environment, providedId, teamId: 7 }
      assert.deepEqual(locationOf(userGroup), { bucket, teamId: 7 })
    }
  })

  it('spreads the user groups of a workspace evenly', () => {
    const counts = new Array<number>(bucketCount).fill(0)
    const each = 100
    for (let i = 0; i < each * bucketCount; i++) {
      const bucket = bucketOf({ workspaceId: 1, environment: 'Customer', providedId: `customer-${i}` })
      counts[bucket] = (counts[bucket] ?? 0) + 1
    }
    assert.equal(counts.length, bucketCount)
    // The ids and the function are fixed. The standard deviation is 10.
    assert.ok(Math.min(...counts) > 0.5 * each, String(Math.min(...counts)))
    assert.ok(Math.max(...counts) < 1.5 * each, String(Math.max(...counts)))
  })
})
