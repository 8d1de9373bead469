import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  formatSecretKey,
  generateSecretKey,
  Keyring,
  parseSecretKeys,
  UnsealError,
} from '../../src/domain/keyring.ts'

const [a, b] = [generateSecretKey('a'), generateSecretKey('b')]

describe('the keyring', () => {
  it('opens what it sealed, with the first key', () => {
    const keyring = new Keyring([a, b])
    const sealed = keyring.seal('a secret', 'context')
    assert.equal(sealed.keyId, 'a')
    assert.equal(keyring.open(sealed, 'context'), 'a secret')
    assert.ok(!Buffer.from(sealed.sealed).includes('secret'))
  })

  it('opens what any of its keys sealed', () => {
    const sealed = new Keyring([b]).seal('a secret', 'context')
    assert.equal(new Keyring([a, b]).open(sealed, 'context'), 'a secret')
  })

  it('seals the same text differently each time', () => {
    const keyring = new Keyring([a])
    const texts = Array.from({ length: 50 }, () => Buffer.from(keyring.seal('x', 'c').sealed).toString('hex'))
    assert.equal(new Set(texts).size, 50)
  })

  it('does not open what was sealed in another context, with another key, or was altered', () => {
    const keyring = new Keyring([a])
    const sealed = keyring.seal('a secret', 'one user group')
    const fails = (open: () => string) => assert.throws(open, UnsealError)
    fails(() => keyring.open(sealed, 'another user group'))
    fails(() => new Keyring([b]).open(sealed, 'one user group'))
    fails(() => new Keyring([{ ...b, id: 'a' }]).open(sealed, 'one user group'))
    for (const [i, byte] of sealed.sealed.entries()) {
      const altered = Buffer.from(sealed.sealed)
      altered[i] = byte ^ 1
      fails(() => keyring.open({ ...sealed, sealed: altered }, 'one user group'))
    }
    for (const length of [0, 12, 15, 28]) {
      fails(() => keyring.open({ ...sealed, sealed: sealed.sealed.subarray(0, length) }, 'one user group'))
    }
  })
})

describe('secret keys as text', () => {
  it('read what was written', () => {
    const text = [a, b].map(formatSecretKey).join(', ')
    assert.deepEqual(parseSecretKeys(text), [a, b])
    assert.deepEqual(parseSecretKeys(formatSecretKey(a).replace(/=+$/, '')), [a])
  })

  const bytes = Buffer.alloc(32, 7).toString('base64')
  const refused: Record<string, RegExp> = {
    '': /entry 1 must have the form id:base64/,
    [bytes]: /entry 1 must have the form/,
    [`a:${bytes},`]: /entry 2 must have the form/,
    [`a:${bytes}:x`]: /entry 1 must have the form/,
    [`:${bytes}`]: /the id of entry 1/,
    [`a b:${bytes}`]: /the id of entry 1/,
    [`a:${bytes.slice(4)}`]: /the key of entry 1 must be 32 bytes/,
    [`a:AAAA${bytes}`]: /the key of entry 1 must be 32 bytes/,
    [`a:${bytes.slice(0, -4)}!!!!`]: /the key of entry 1 must be 32 bytes/,
    [`a:${bytes},a:${bytes}`]: /two entries have the same id/,
  }
  for (const [text, message] of Object.entries(refused)) {
    it(`are refused, without a word of the key: ${text.replaceAll(bytes, '…')}`, () => {
      assert.throws(
        () => parseSecretKeys(text),
        (error) => {
          assert.ok(error instanceof RangeError)
          assert.match(error.message, message)
          assert.ok(!error.message.includes(bytes.slice(0, 10)))
          return true
        },
      )
    })
  }
})
