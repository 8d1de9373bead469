import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { InvalidationLog } from '../../../src/lease/invalidation-log.ts'
import { parsePosition } from '../../../src/lease/position.ts'

const at = (number: number) => parsePosition(`a-${number}`)

describe('invalidation log', () => {
  it('returns the newest of token, user group and environment', () => {
    const log = new InvalidationLog()
    const newest = () => log.newest('hash', 7).position?.text
    assert.equal(newest(), undefined)
    log.add({ teamId: 7, tokenSha256: ['hash'] }, at(1))
    assert.equal(newest(), 'a-1')
    log.add({ teamId: 7, tokenSha256: ['other'] }, at(2))
    log.add({ teamId: 8, tokenSha256: null }, at(3))
    assert.equal(newest(), 'a-1')
    log.add({ teamId: 7, tokenSha256: null }, at(4))
    assert.equal(newest(), 'a-4')
    log.add({ teamId: null, tokenSha256: null }, at(5))
    assert.equal(newest(), 'a-5')
    log.add({ teamId: null, tokenSha256: ['x', 'hash'] }, at(6))
    assert.equal(newest(), 'a-6')
    assert.equal(log.sequence, 6)
  })

  it('never forgets: a removed record counts for all tokens', () => {
    const log = new InvalidationLog(3)
    for (let i = 1; i <= 10; i++) log.add({ teamId: i, tokenSha256: null }, at(i))
    assert.equal(log.newest('hash', 1).position?.text, 'a-7')
    assert.equal(log.newest('hash', 100).position?.text, 'a-7')
    assert.equal(log.newest('hash', 10).position?.text, 'a-10')
  })

  it('keeps its limit with events of many tokens', () => {
    const log = new InvalidationLog(3)
    const tokenSha256 = Array.from({ length: 10 }, (_, i) => `hash ${i}`)
    log.add({ teamId: 7, tokenSha256 }, at(1))
    for (const hash of [...tokenSha256, 'unknown']) assert.equal(log.newest(hash, 1).position?.text, 'a-1')
  })
})
