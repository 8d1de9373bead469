import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readRotationBody, readUserGroupBody } from '../../../../src/contract/user/bodies.ts'
import { Fault } from '../../../../src/domain/fault.ts'

function faultOf(read: (bytes: Buffer) => unknown, text: string): Fault {
  try {
    read(Buffer.from(text))
  } catch (error) {
    assert.ok(error instanceof Fault)
    return error
  }
  throw new Error('the body was accepted')
}

const deep = '['.repeat(100_000)
const user = '"user_group_id":"a","name":"A"'

describe('a GET that arrives as a POST is recognized although the body is beyond a limit', () => {
  for (const [title, text] of Object.entries({
    'before the limit': `{${user},"properties":{"a":${deep}`,
    'after the limit': `{"properties":{"a":"${'x'.repeat(200_000)}"},${user}}`,
    'in a mapping': `{${user},"mapping":{${'"a":[],'.repeat(3000)}"b":0}}`,
  })) {
    it(title, () => {
      const { code, message, fields } = faultOf(readRotationBody, text)
      assert.equal(code, 'validation_failed')
      assert.match(message, /^current_token: .*X-HTTP-Method-Override: GET/)
      assert.equal(fields.length, 2)
      assert.deepEqual(fields[1], faultOf(readUserGroupBody, text).fields[0])
    })
  }

  it('not if the body has a token', () => {
    const { fields } = faultOf(readRotationBody, `{"current_token":"a",${user},"properties":{"a":${deep}`)
    assert.deepEqual(
      fields.map(({ path }) => path),
      ['/properties'],
    )
  })
})

it('names the entries of a mapping that are not strings, next to the largest properties', () => {
  const properties = `{"a":[${'{},'.repeat(21_800)}0]}`
  const mapping = Array.from({ length: 1000 }, (_, i) => `"${i}":null`).join()
  for (const members of [
    `"properties":${properties},"mapping":{${mapping}}`,
    `"mapping":{${mapping}},"properties":${properties}`,
  ]) {
    const { fields } = faultOf(readUserGroupBody, `{${user},${members}}`)
    assert.equal(fields.length, 100)
    assert.deepEqual(fields[0], { path: '/mapping/0', message: 'must be a string' })
  }
})
