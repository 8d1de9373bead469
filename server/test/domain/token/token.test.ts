import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { crc32 } from 'node:zlib'
import { environments } from '../../../src/domain/environment.ts'
import { generateToken, isWellFormedToken, type TokenKind } from '../../../src/domain/token/token.ts'

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

describe('tokens', () => {
  for (const kind of ['userGroup', 'api'] as TokenKind[]) {
    for (const environment of environments) {
      it(`have a prefix, at least 190 bits and a checksum: ${kind}, ${environment}`, () => {
        const token = generateToken(kind, environment)
        const prefix = `${kind === 'api' ? 'uga' : 'ugt'}_${environment.toLowerCase()}_`
        assert.match(token, new RegExp(`^${prefix}[0-9A-Za-z]{38}$`))
        assert.ok(token.length <= 80)
        const checksum = Array.from(token.slice(-6)).reduce(
          (sum, digit) => sum * 62 + base62.indexOf(digit),
          0,
        )
        assert.equal(checksum, crc32(token.slice(0, -6)))
        assert.ok(isWellFormedToken(kind, token))
      })
    }
  }

  it('use every character equally often', () => {
    const counts = new Map<string, number>()
    const rounds = 4000
    for (let i = 0; i < rounds; i++) {
      for (const char of generateToken('api', 'Testing').slice('uga_testing_'.length, -6)) {
        counts.set(char, (counts.get(char) ?? 0) + 1)
      }
    }
    assert.equal(counts.size, 62)
    const expected = (rounds * 32) / 62
    // Eight standard deviations. A biased generator (byte % 62) differs by a quarter, which is eleven.
    const tolerance = 8 * Math.sqrt(expected)
    for (const [char, count] of counts) {
      assert.ok(Math.abs(count - expected) < tolerance, `${char} came ${count} times, not about ${expected}`)
    }
  })

  it('are invalid with any one character changed, removed or added', () => {
    const token = generateToken('userGroup', 'Customer')
    for (let i = 0; i < token.length; i++) {
      const other = token[i] === 'x' ? 'y' : 'x'
      assert.equal(isWellFormedToken('userGroup', token.slice(0, i) + other + token.slice(i + 1)), false)
      assert.equal(isWellFormedToken('userGroup', token.slice(0, i) + token.slice(i + 1)), false)
      assert.equal(isWellFormedToken('userGroup', token.slice(0, i) + 'x' + token.slice(i)), false)
    }
  })

  it('are distinguished by their kind', () => {
    assert.equal(isWellFormedToken('api', generateToken('userGroup', 'Customer')), false)
    assert.equal(isWellFormedToken('userGroup', generateToken('api', 'Customer')), false)
  })
})
