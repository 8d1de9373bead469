import assert from 'node:assert/strict'
import { bodyOf, groupCount, groupId } from './bodies.js'

/**
 * Creates the user groups that a load of the kind `unchanged` asks for.
 * @param {import('./service.js').Server} service
 * @param {import('./bodies.js').BodySize} size
 */
export async function createGroups({ origin, token }, size) {
  await Promise.all(
    Array.from({ length: groupCount }, async (_, index) => {
      // fetch sends no GET with a body.
      const answer = await fetch(`${origin}/api/user`, {
        method: 'POST',
        headers: {
          authorization: `Token ${token}`,
          'content-type': 'application/json',
          'x-http-method-override': 'GET',
        },
        body: bodyOf(size, groupId(index)),
      })
      assert.equal(answer.status, 200, await answer.text())
    }),
  )
}
