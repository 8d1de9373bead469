import assert from 'node:assert/strict'
import { test } from 'node:test'
import { environments } from '../../../src/domain/environment.ts'
import { generateApiToken, locatorOf } from '../../../src/domain/token/token.ts'
import { unknownToken } from '../../support/tokens.ts'
import { readPage, readTable } from '../../docs/support.ts'

const page = readPage('docs/tokens.md')

test('the example token of docs/tokens.md has the documented checksum', () => {
  const token = /^ugt_testing_\w+$/m.exec(page)?.[0] ?? ''
  assert.ok(page.includes(locatorOf(token) ?? 'no locator'))
  assert.ok(page.includes(`1. \`${token.slice(0, -6)}\`\n`))
  assert.ok(page.includes(`3. \`${token.slice(-6)}\``))
})

test('the pattern for secret scanners matches every kind of token, and no longer text', () => {
  const pattern = new RegExp(/^\\bug.*$/m.exec(page)?.[0] ?? 'no pattern')
  for (const generate of [unknownToken, generateApiToken]) {
    for (const environment of environments) {
      const token = generate(environment)
      assert.equal(pattern.exec(`key="${token}";`)?.[0], token)
      assert.doesNotMatch(`${token}x`, pattern)
    }
  }
})

test('docs/tokens.md has each prefix and length', () => {
  const rows = readTable(page, '## Format').slice(0, 4)
  assert.equal(rows.length, 4)
  for (const [kind, environment = '', prefix = '', length] of rows) {
    const generate = kind === 'API token' ? generateApiToken : unknownToken
    const token = generate(environment === '`Customer`' ? 'Customer' : 'Testing')
    assert.ok(token.startsWith(prefix.replaceAll('`', '')))
    assert.equal(length, `${token.length} characters`)
  }
})
