import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { Keyring } from '../../src/domain/keyring.ts'
import { OpenedTexts } from '../../src/domain/opened-texts.ts'
import { generateToken } from '../../src/domain/token.ts'
import { sealingContext } from '../../src/domain/user-group.ts'

const tokenBytes = 79
const sealedAs = (keyId: string, length = tokenBytes) => ({ keyId, sealed: randomBytes(length) })

describe('opened texts', () => {
  it('are found by all of what they were sealed to, their key and their context', () => {
    const opened = new OpenedTexts()
    const one = sealedAs('k1')
    opened.set(one, 'context', 'a text')
    assert.equal(opened.get(one, 'context'), 'a text')
    assert.equal(opened.get({ ...one, sealed: Uint8Array.from(one.sealed) }, 'context'), 'a text')
    assert.equal(opened.get(one, 'another'), undefined)
    assert.equal(opened.get({ ...one, keyId: 'k2' }, 'context'), undefined)
    for (const [i, byte] of one.sealed.entries()) {
      const altered = Buffer.from(one.sealed)
      altered[i] = byte ^ 1
      assert.equal(opened.get({ ...one, sealed: altered }, 'context'), undefined)
      assert.equal(opened.get({ ...one, sealed: one.sealed.subarray(0, i) }, 'context'), undefined)
    }
  })

  it('of a long context are not found by a longer one', () => {
    const opened = new OpenedTexts()
    const one = sealedAs('k1')
    for (const context of ['x'.repeat(87), `${'x'.repeat(83)}🙂`]) {
      opened.set(one, context, 'text')
      assert.equal(opened.get(one, context), 'text')
      for (const more of ['x', 'é', '🙂', 'x'.repeat(100)])
        assert.equal(opened.get(one, context + more), undefined)
    }
  })

  it('are found where others have the same nonce, and the same place', () => {
    const opened = new OpenedTexts()
    const nonce = randomBytes(12)
    const same = Array.from({ length: 16 }, () => Buffer.concat([nonce, randomBytes(tokenBytes - 12)]))
    for (const [i, sealed] of same.entries()) opened.set({ keyId: 'k1', sealed }, 'context', `text ${i}`)
    for (const [i, sealed] of same.entries())
      assert.equal(opened.get({ keyId: 'k1', sealed }, 'context'), `text ${i}`)
  })

  it('of a token of a user group whose id is a UUID, are kept', () => {
    const opened = new OpenedTexts()
    const environment = 'Customer'
    const context = sealingContext({ workspaceId: 9999, environment, providedId: randomUUID() })
    const token = generateToken('userGroup', environment)
    const keyring = new Keyring([{ id: 'key-of-2026-11-22', key: randomBytes(32) }])
    const sealed = keyring.seal(token, context, { isRemembered: false })
    opened.set(sealed, context, token)
    assert.equal(opened.get(sealed, context), token)
  })

  it('of nothing but zeros, or of nothing, are like any other', () => {
    const opened = new OpenedTexts()
    for (const length of [0, 3, tokenBytes]) {
      const one = { keyId: 'k1', sealed: new Uint8Array(length) }
      assert.equal(opened.get(one, 'context'), undefined)
      opened.set(one, 'context', `text ${length}`)
      assert.equal(opened.get(one, 'context'), `text ${length}`)
    }
  })

  const cases: Record<string, [sealed: number, context: string, text: string, isKept: boolean]> = {
    'all as long as they may be': [80, 'x'.repeat(87), 'x'.repeat(56), true],
    'sealed to more than a token is': [81, 'x', 'x', false],
    'of a long context': [79, 'x'.repeat(88), 'x', false],
    'of a context that is longer than it looks': [79, 'é'.repeat(44), 'x', false],
    'of a context that is not ASCII': [79, 'Zürich, 東京, 🙂', 'x', true],
    'longer than a token is': [79, 'x', 'x'.repeat(57), false],
    'not ASCII': [79, 'x', 'é', false],
  }
  for (const [what, [length, context, text, isKept]] of Object.entries(cases)) {
    it(`${what}, are ${isKept ? '' : 'not '}kept`, () => {
      const opened = new OpenedTexts()
      const one = sealedAs('k1', length)
      opened.set(one, context, text)
      assert.equal(opened.get(one, context), isKept ? text : undefined)
    })
  }

  it('of 100,000 user groups are nearly all kept; of many more, no more than there is room for, the last ones among them', () => {
    const opened = new OpenedTexts()
    const all = Array.from({ length: 250_000 }, () => sealedAs('k1'))
    const kept = (some: typeof all) => some.filter((one) => opened.get(one, 'context') === 'text').length
    const first = all.slice(0, 100_000)
    for (const one of first) opened.set(one, 'context', 'text')
    assert.ok(kept(first) > 94_000, String(kept(first)))
    for (const one of all.slice(100_000)) opened.set(one, 'context', 'text')
    assert.ok(kept(all) <= 110_000)
    assert.ok(kept(all.slice(-10_000)) > 9_000)
  })
})
