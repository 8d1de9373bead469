import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, it } from 'node:test'
import { environments, type Environment } from '../../../../src/domain/environment.ts'
import { LocatorCodec } from '../../../../src/domain/user-group/locator.ts'
import {
  generateApiToken,
  generateUserGroupToken,
  isWellFormedApiToken,
  locatorOf,
} from '../../../../src/domain/token/token.ts'
import { checksumOf } from '../../../support/tokens.ts'

const locator = new LocatorCodec(randomBytes(16)).encode({ bucket: 1, teamId: 1 })

/** Returns a function that generates a token, the length of its random part and a check of its form, by kind. */
const kinds = {
  api: {
    generate: generateApiToken,
    prefix: 'uga',
    secretLength: 32,
    isWellFormed: isWellFormedApiToken,
  },
  userGroup: {
    generate: (environment: Environment) => generateUserGroupToken(environment, locator),
    prefix: 'ugt',
    secretLength: 22,
    isWellFormed: (text: string) => locatorOf(text) !== null,
  },
}

for (const [kind, { generate, prefix, secretLength, isWellFormed }] of Object.entries(kinds)) {
  describe(`tokens of kind ${kind}`, () => {
    for (const environment of environments) {
      it(`have a prefix, at least 128 random bits and a checksum: ${environment}`, () => {
        const token = generate(environment)
        const start = `${prefix}_${environment.toLowerCase()}_${kind === 'userGroup' ? locator : ''}`
        assert.ok(token.startsWith(start))
        assert.match(token.slice(start.length), new RegExp(`^[0-9A-Za-z]{${secretLength + 6}}$`))
        assert.ok(62 ** secretLength > 2 ** 128)
        assert.ok(token.length <= 80)
        assert.equal(token.slice(-6), checksumOf(token.slice(0, -6)))
        assert.ok(isWellFormed(token))
      })
    }

    it('use every character of the random part equally often', () => {
      const counts = new Map<string, number>()
      const rounds = 4000
      for (let i = 0; i < rounds; i++) {
        for (const char of generate('Testing').slice(-secretLength - 6, -6))
          counts.set(char, (counts.get(char) ?? 0) + 1)
      }
      assert.equal(counts.size, 62)
      const expected = (rounds * secretLength) / 62
      // Seven standard deviations. A biased generator (byte % 62) differs by a quarter, which is nine.
      const tolerance = 7 * Math.sqrt(expected)
      for (const [char, count] of counts) {
        assert.ok(
          Math.abs(count - expected) < tolerance,
          `${char} came ${count} times, not about ${expected}`,
        )
      }
    })

    it('are invalid with any one character changed, removed or added', () => {
      const token = generate('Customer')
      for (let i = 0; i < token.length; i++) {
        const other = token[i] === 'x' ? 'y' : 'x'
        assert.equal(isWellFormed(token.slice(0, i) + other + token.slice(i + 1)), false)
        assert.equal(isWellFormed(token.slice(0, i) + token.slice(i + 1)), false)
        assert.equal(isWellFormed(token.slice(0, i) + 'x' + token.slice(i)), false)
      }
    })

    it('have one length and no other characters, even with a correct checksum', () => {
      const token = generate('Customer').slice(0, -6)
      const body = token.slice(token.lastIndexOf('_') + 1)
      for (const altered of [
        token.slice(0, -1),
        `${token}0`,
        `${token.slice(0, -1)}_`,
        `${token.slice(0, -1)}-`,
        token.slice(0, -body.length),
        `${token.slice(0, -body.length)}${body}${body}`,
        `${prefix}_production_${body}`,
        `${prefix}_CUSTOMER_${body}`,
      ])
        assert.equal(isWellFormed(altered + checksumOf(altered)), false, altered)
      for (const text of ['', 'x', prefix, `${prefix}_customer_`, '0'.repeat(10_000)])
        assert.equal(isWellFormed(text), false)
    })
  })
}

describe('user group tokens', () => {
  it('contain the locator', () => {
    for (const environment of environments)
      assert.equal(locatorOf(generateUserGroupToken(environment, locator)), locator)
  })

  it('are not accepted as API tokens, nor API tokens as user group tokens', () => {
    assert.equal(isWellFormedApiToken(kinds.userGroup.generate('Customer')), false)
    assert.equal(locatorOf(generateApiToken('Customer')), null)
  })
})
