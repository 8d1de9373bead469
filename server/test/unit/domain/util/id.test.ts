import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseId } from '../../../../src/domain/util/id.ts'

test('an id is a whole number from 1 to 2^53 - 1', () => {
  for (const id of [1, 10, 999_999_999_999_999, 2 ** 52, Number.MAX_SAFE_INTEGER])
    assert.equal(parseId(String(id)), id)
  for (const text of [
    ...['', '0', '00', '01', '-1', '+1', '1.0', '1e3', ' 1', '1 ', '0x1', 'one', '٣'],
    ...['9007199254740992', '9007199254740993', '9999999999999999', '10000000000000000'],
  ])
    assert.equal(parseId(text), null, text)
})
