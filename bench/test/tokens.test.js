import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { LocatorCodec } from '../../server/dist/domain/user-group/locator.js'
import { locatorOf } from '../../server/dist/domain/token/token.js'
import { manyKnownIds, rotatedIds } from '../lib/ids.js'
import { seededLocation, seededToken } from '../lib/tokens.js'

test('the service accepts a seeded token', () => {
  const locators = new LocatorCodec(randomBytes(16))
  for (const ids of [manyKnownIds, rotatedIds]) {
    for (const index of [0, ids.count - 1]) {
      const locator = locatorOf(seededToken(locators, ids, index)) ?? ''
      assert.deepEqual(locators.decode(locator), seededLocation(ids, index))
    }
  }
})
