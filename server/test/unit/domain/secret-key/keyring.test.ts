import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { pathToFileURL } from 'node:url'
import {
  formatSecretKey,
  generateSecretKey,
  Keyring,
  parseSecretKeys,
  DecryptionError,
  type SecretKey,
} from '../../../../src/domain/secret-key/keyring.ts'

const repository = new URL('../../../../../', import.meta.url)

/** Files from which an operator may copy a key. */
function documents(): string[] {
  return ['README.md', 'docs/', 'deploy/']
    .flatMap((path) => {
      const url = new URL(path, repository)
      if (!path.endsWith('/')) return [url]
      return readdirSync(url, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && !/node_modules|deploy\/lint/.test(entry.parentPath))
        .map((entry) => pathToFileURL(join(entry.parentPath, entry.name)))
    })
    .map((url) => readFileSync(url, 'latin1'))
}

const [a, b] = [generateSecretKey('a'), generateSecretKey('b')]

describe('the keyring', () => {
  it('decrypts its own ciphertext, made with the first key', () => {
    const keyring = new Keyring([a, b])
    const encrypted = keyring.seal('a secret', 'context')
    assert.equal(encrypted.keyId, 'a')
    assert.equal(keyring.open(encrypted, 'context'), 'a secret')
    assert.ok(!Buffer.from(encrypted.sealed).includes('secret'))
  })

  it('decrypts with any of its keys', () => {
    const encrypted = new Keyring([b]).seal('a secret', 'context')
    assert.equal(new Keyring([a, b]).open(encrypted, 'context'), 'a secret')
  })

  it('encrypts the same text differently each time', () => {
    const keyring = new Keyring([a])
    const texts = Array.from({ length: 50 }, () => Buffer.from(keyring.seal('x', 'c').sealed).toString('hex'))
    assert.equal(new Set(texts).size, 50)
  })

  it('refuses a ciphertext of another context or key, and an altered one', () => {
    const keyring = new Keyring([a])
    const encrypted = keyring.seal('a secret', 'one user group')
    const fails = (open: () => string) => assert.throws(open, DecryptionError)
    fails(() => keyring.open(encrypted, 'another user group'))
    fails(() => new Keyring([b]).open(encrypted, 'one user group'))
    fails(() => new Keyring([{ ...b, id: 'a' }]).open(encrypted, 'one user group'))
    for (const [i, byte] of encrypted.sealed.entries()) {
      const altered = Buffer.from(encrypted.sealed)
      altered[i] = byte ^ 1
      fails(() => keyring.open({ ...encrypted, sealed: altered }, 'one user group'))
    }
    for (const length of [0, 12, 15, 28]) {
      fails(() =>
        keyring.open({ ...encrypted, sealed: encrypted.sealed.subarray(0, length) }, 'one user group'),
      )
    }
  })
})

describe('a keyring with replaced keys', () => {
  it('encrypts with the new first key and still decrypts old texts', () => {
    const keyring = new Keyring([a])
    const encrypted = keyring.seal('a secret', 'context')
    keyring.replace([b, a])
    assert.equal(keyring.seal('x', 'context').keyId, 'b')
    assert.deepEqual([keyring.sealingKeyId, keyring.keyIds], ['b', ['b', 'a']])
    assert.equal(keyring.open(encrypted, 'context'), 'a secret')
  })

  it('stays unchanged if there is no key or two have the same id', () => {
    const keyring = new Keyring([a])
    for (const keys of [[], [b, b]]) assert.throws(() => keyring.replace(keys), RangeError)
    assert.deepEqual(keyring.keyIds, ['a'])
  })

  it('decrypts with a key that it read again, without encrypting with it', () => {
    const encrypted = new Keyring([b]).seal('a secret', 'context')
    let readable: SecretKey[] = [a]
    const keyring = new Keyring([a], () => readable)
    assert.throws(() => keyring.open(encrypted, 'context'), DecryptionError)
    readable = [b, a]
    assert.equal(keyring.open(encrypted, 'context'), 'a secret')
    assert.equal(keyring.seal('x', 'context').keyId, 'a')
  })
})

describe('secret keys as text', () => {
  it('are parsed as formatted', () => {
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
    [`a:${bytes},b:${bytes}`]: /two entries have the same key/,
  }
  const guessable = {
    zeros: Buffer.alloc(32),
    'one byte': Buffer.alloc(32, 0xa7),
    'a sequence': Buffer.from(Array.from({ length: 32 }, (_, i) => i)),
    'a sequence that wraps': Buffer.from(Array.from({ length: 32 }, (_, i) => 3 * i + 200)),
    'a repetition': Buffer.from('0123456789abcdef'.repeat(4), 'hex'),
    'a text': Buffer.from('change-me-before-production-1234'),
    'hexadecimal digits': Buffer.from('9f86d081884c7d659a2feaa0c55ad015'),
    'a text of two lines': Buffer.from('not at all\nrandom but all there\n'),
  }
  for (const [title, key] of Object.entries(guessable)) {
    it(`are refused as the first key, but accepted later, if the key is ${title}`, () => {
      const weak = { id: 'weak', key }
      assert.throws(
        () => parseSecretKeys(formatSecretKey(weak)),
        /^RangeError: the key of entry 1 is an example/,
      )
      assert.deepEqual(parseSecretKeys([a, weak].map(formatSecretKey).join(',')), [a, weak])
    })
  }

  it('are accepted if they are random', () => {
    for (let i = 0; i < 20_000; i++) parseSecretKeys(formatSecretKey(generateSecretKey('a')))
  })

  it('are refused if they appear in the documentation', () => {
    const examples = documents().flatMap((text) => text.match(/(?<![\w+/])[\w+/]{43}=(?!=)/g) ?? [])
    assert.ok(examples.length > 0)
    for (const example of examples) assert.throws(() => parseSecretKeys(`a:${example}`), /is an example/)
  })

  for (const [text, message] of Object.entries(refused)) {
    it(`are refused with a message that contains no key: ${text.replaceAll(bytes, '…')}`, () => {
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
