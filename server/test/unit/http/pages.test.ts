import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cursorOf, isId, positionOf } from '../../../src/http/admin/pages.ts'

test('a cursor is a position that a response contained', () => {
  assert.equal(positionOf(cursorOf('7') ?? undefined, isId), '7')
  assert.equal(positionOf(undefined, isId), null)
})

// PostgreSQL refuses a text with U+0000, and the base64url of a position has one form.
for (const [title, cursor] of [
  ['U+0000', cursorOf('a\0')],
  ['another position', cursorOf('x')],
  ['padding', `${cursorOf('7')}=`],
  ['no UTF-8', Buffer.of(0xff).toString('base64url')],
] as const)
  test(`a cursor of ${title} is refused`, () => {
    assert.throws(() => positionOf(cursor ?? undefined, (position) => position !== 'x'), {
      code: 'validation_failed',
    })
  })
