import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isExposed } from '../../../src/config/secret-keys.ts'

const [root, service, other] = [0, 1000, 1001]

describe('a file of secret keys', () => {
  for (const [uid, mode, user, expected] of [
    [service, 0o600, service, false],
    [service, 0o400, service, false],
    [service, 0o640, service, true],
    [service, 0o620, service, true],
    [service, 0o604, service, true],
    [service, 0o602, service, true],
    [service, 0o644, service, true],
    [service, 0o711, service, false],
    [root, 0o600, service, false],
    [root, 0o440, service, false],
    [root, 0o640, service, false],
    [root, 0o660, service, true],
    [root, 0o444, service, true],
    [root, 0o602, service, true],
    [root, 0o600, root, false],
    [root, 0o440, root, true],
    [other, 0o600, service, true],
    [other, 0o440, service, true],
    [service, 0o600, root, true],
  ] as const) {
    const name = `of user ${uid} with mode 0${mode.toString(8)} is ${expected ? '' : 'not '}exposed to others than user ${user}`
    it(name, () => {
      // With the type of a regular file, as `stat` returns it.
      assert.equal(isExposed({ uid, mode: 0o100000 | mode }, user), expected)
    })
  }
})
