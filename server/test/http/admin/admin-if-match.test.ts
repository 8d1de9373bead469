import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { AdminOperationId } from '../../../src/contract/admin/admin-operations.ts'
import {
  assertAnswers,
  assertRefused,
  managedIn,
  of,
  operationIds,
  operationOf,
  startManaged,
  type AdminInput,
} from '../../support/admin-api.ts'
import { answerTo, requestText } from '../../support/raw-connection.ts'
import type { UserGroupView } from '../../support/user-api.ts'

// RFC 9110, sections 8.8.3 and 13.1.1.

const { service, admin, adminToken, create } = await startManaged({ after })
const other = await create('other')

const conditional = operationIds.filter((id) => operationOf(id).takesIfMatch)

const inputs: Partial<Record<AdminOperationId, AdminInput>> = {
  patchUserGroup: { body: { name: 'Changed' } },
  rotateTokenOfUserGroup: { body: {} },
  restoreUserGroupVersion: { params: { revision: 1 } },
}

let count = 0

/** A user group at revision 2, which each operation would change. */
async function prepare(id: AdminOperationId): Promise<UserGroupView> {
  const made = await create(`${id} ${count++}`)
  if (id === 'resumeUserGroup') await admin.suspendUserGroup(of(made))
  else await admin.patchUserGroup({ ...of(made), body: { name: 'Second' } })
  return made
}

function inputOf(id: AdminOperationId, group: { team_id: number }, ifMatch?: string): AdminInput {
  const { params, ...input } = inputs[id] ?? {}
  return {
    ...input,
    params: { ...of(group).params, ...params },
    ...(ifMatch !== undefined && { headers: { 'if-match': ifMatch } }),
  }
}

const stateOf = async (group: { team_id: number }) => {
  const shown = await admin.getUserGroup(of(group))
  return [shown.text, (await admin.getUserGroupToken(of(group))).text]
}

/** What a call may send, by the team id; each names the second revision where it names the user group at all. */
const fulfilled: Record<string, (teamId: number) => string> = {
  'the ETag': (id) => `"${id}.2"`,
  'any state': () => '*',
  'any state, with white space': () => ' * ',
  'the ETag after those of others': (id) => `"x", "${id}.1",W/"${id}.2","${other.team_id}.1", "${id}.2"`,
  'the ETag before others, with white space': (id) => ` "${id}.2"\t , "" `,
  'the ETag among empty elements': (id) => `,, "${id}.2",`,
}
const failed: Record<string, (teamId: number) => string> = {
  'an earlier ETag': (id) => `"${id}.1"`,
  'a later ETag': (id) => `"${id}.3"`,
  'several that are not the current one': (id) => `"${id}.1", "${id}.3"`,
  'the ETag as a weak one': (id) => `W/"${id}.2"`,
  "another user group's ETag": () => `"${other.team_id}.1"`,
  "another user group's ETag of the same revision": () => `"${other.team_id}.2"`,
  'what is no entity tag': (id) => `${id}.2`,
  'half of one': (id) => `"${id}.2`,
  'a longer one': (id) => `"${id}.2-gzip"`,
  'one with leading zeros of another revision': (id) => `"${id}.01"`,
  'a revision alone': () => '"2"',
  'no entity tag': () => '',
  'a comma': () => ',',
  'a number beyond all revisions': (id) => `"${id}.99999999999999999999"`,
}

for (const id of conditional) {
  for (const [what, ifMatch] of Object.entries(fulfilled)) {
    test(`${id} with ${what} is done`, async () => {
      const made = await prepare(id)
      assertAnswers(await admin[id](inputOf(id, made, ifMatch(made.team_id))), id)
    })
  }

  test(`${id} with anything else is 412 and changes nothing`, async () => {
    const made = await prepare(id)
    const before = await stateOf(made)
    for (const [what, ifMatch] of Object.entries(failed)) {
      const response = await admin[id](inputOf(id, made, ifMatch(made.team_id)))
      assert.equal(response.status, 412, what)
      assertRefused(response, id, 'revision_mismatch')
    }
    assert.deepEqual(await stateOf(made), before)
  })

  test(`${id} of what is not there is 404, whatever If-Match says`, async () => {
    for (const ifMatch of ['*', '"999999.1"', '"1.1"', 'nonsense', '"999999.1", "999999.2"']) {
      const answer = await admin[id](inputOf(id, { team_id: 999_999 }, ifMatch))
      assertRefused(answer, id, 'user_group_not_found')
    }
  })

  test(`of ten calls of ${id} with one ETag exactly one is done`, async () => {
    const made = await prepare(id)
    const responses = await Promise.all(
      Array.from({ length: 10 }, () => admin[id](inputOf(id, made, `"${made.team_id}.2"`))),
    )
    const done = responses.filter(({ status }) => status === 200)
    assert.equal(done.length, 1)
    for (const answer of responses.filter((one) => one !== done[0])) {
      // Once it is deleted it is not there.
      const code = answer.status === 404 ? 'user_group_not_found' : 'revision_mismatch'
      assert.ok(code === 'revision_mismatch' || id === 'deleteUserGroup')
      assertRefused(answer, id, code)
    }
  })
}

test('several lines of If-Match are one list', async () => {
  const made = await prepare('suspendUserGroup')
  const send = (...tags: string[]) =>
    answerTo(
      service.origin,
      requestText({
        method: 'POST',
        path: `/admin/v1/user-groups/${made.team_id}/suspend`,
        token: adminToken,
        headers: ['Connection: close', ...tags.map((tag) => `If-Match: ${tag}`)],
      }),
    )
  const { team_id } = made
  assertRefused(await send('"x"', `"${team_id}.1"`), 'suspendUserGroup', 'revision_mismatch')
  assert.equal((await send('"x"', `"${team_id}.2"`)).status, 200)
})

test('the ETag changes with each change, and with nothing else', async () => {
  const made = await create('etag')
  const etag = async () => (await admin.getUserGroup(of(made))).headers.etag ?? ''
  const seen = [await etag()]
  const { body } = inputs.patchUserGroup ?? {}
  const steps = [
    () => admin.patchUserGroup({ ...of(made), body }),
    () => admin.rotateTokenOfUserGroup({ ...of(made), body: {} }),
    () => admin.suspendUserGroup(of(made)),
    () => admin.resumeUserGroup(of(made)),
    () => admin.restoreUserGroupVersion({ params: { ...of(made).params, revision: 1 } }),
  ]
  for (const step of steps) {
    const answer = await step()
    assert.equal(answer.status, 200, answer.text)
    const now = await etag()
    assert.match(now, /^"[!#-~]+"$/)
    assert.ok(!seen.includes(now))
    // The token's own answer has none: it is that of no user group.
    assert.ok([undefined, now].includes(answer.headers.etag))
    seen.push(now)
  }
  await admin.deleteUserGroup(of(made))
  await admin.restoreDeletedUserGroup(of(made))
  assert.ok(!seen.includes(await etag()))

  const last = await etag()
  await admin.patchUserGroup({ ...of(made), body: {} })
  await admin.resumeUserGroup(of(made))
  await admin.viewUserGroup(of(made))
  assert.equal(await etag(), last)
})

test('an ETag of one that was deleted meanwhile is worth nothing for the next with its id', async () => {
  const made = await create('again')
  await admin.deleteUserGroup(of(made))
  const next = await create('again')
  const input = { ...of(next), body: { name: 'New' }, headers: { 'if-match': `"${made.team_id}.1"` } }
  assertRefused(await admin.patchUserGroup(input), 'patchUserGroup', 'revision_mismatch')
  assert.equal(managedIn(await admin.getUserGroup(of(next)), 'getUserGroup').name, 'again')
})
