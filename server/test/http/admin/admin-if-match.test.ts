import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { AdminOperationId } from '../../../src/http/admin/operations.ts'
import {
  assertSucceeded,
  assertRefused,
  managedIn,
  of,
  operationIds,
  operationOf,
  startManaged,
  type AdminInput,
} from '../../support/admin-api.ts'
import { responseTo, requestText } from '../../support/raw-connection.ts'
import type { UserGroupView } from '../../support/user-api.ts'

// RFC 9110, sections 8.8.3 and 13.1.1.

const { service, admin, adminToken, create } = await startManaged({ after })
const other = await create('other')

/** The operations on one user group. */
const conditional = operationIds.filter(
  (id) => operationOf(id).takesIfMatch && operationOf(id).path.startsWith('/user-groups'),
)

const inputs: Partial<Record<AdminOperationId, AdminInput>> = {
  patchUserGroup: { body: { name: 'Changed' } },
  rotateTokenOfUserGroup: { body: {} },
  endSessionsOfUserGroup: { body: {} },
  restoreUserGroupVersion: { params: { revision: 1 } },
}

let count = 0

/** Creates a user group at revision 2 that the operation changes. */
async function prepare(id: AdminOperationId): Promise<UserGroupView> {
  const created = await create(`${id} ${count++}`)
  if (id === 'resumeUserGroup') await admin.suspendUserGroup(of(created))
  else await admin.patchUserGroup({ ...of(created), body: { name: 'Second' } })
  return created
}

type Identity = Pick<UserGroupView, 'team_id' | 'provided_id'>

function inputOf(id: AdminOperationId, group: Identity, ifMatch?: string): AdminInput {
  const { params, ...input } = inputs[id] ?? {}
  return {
    ...input,
    ...(id === 'deleteUserGroupByProvidedId'
      ? { query: { user_group_id: group.provided_id } }
      : { params: { ...of(group).params, ...params } }),
    ...(ifMatch !== undefined && { headers: { 'if-match': ifMatch } }),
  }
}

const stateOf = async (group: { team_id: number }) => {
  const shown = await admin.getUserGroup(of(group))
  return [shown.text, (await admin.getUserGroupToken(of(group))).text]
}

/** Values of If-Match by team id. Those with an ETag of the user group name the second revision. */
const fulfilled: Record<string, (teamId: number) => string> = {
  'the ETag': (id) => `"${id}.2"`,
  'an asterisk': () => '*',
  'an asterisk with white space': () => ' * ',
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
  'a text that is no entity tag': (id) => `${id}.2`,
  'an unclosed entity tag': (id) => `"${id}.2`,
  'a longer entity tag': (id) => `"${id}.2-gzip"`,
  'an ETag with leading zeros': (id) => `"${id}.01"`,
  'a revision alone': () => '"2"',
  'no entity tag': () => '',
  'a comma': () => ',',
  'a number beyond all revisions': (id) => `"${id}.99999999999999999999"`,
}

for (const id of conditional) {
  for (const [title, ifMatch] of Object.entries(fulfilled)) {
    test(`${id} with ${title} succeeds`, async () => {
      const created = await prepare(id)
      assertSucceeded(await admin[id](inputOf(id, created, ifMatch(created.team_id))), id)
    })
  }

  test(`${id} with any other If-Match is 412 and changes nothing`, async () => {
    const created = await prepare(id)
    const before = await stateOf(created)
    for (const [title, ifMatch] of Object.entries(failed)) {
      const response = await admin[id](inputOf(id, created, ifMatch(created.team_id)))
      assert.equal(response.status, 412, title)
      assertRefused(response, id, 'revision_mismatch')
    }
    assert.deepEqual(await stateOf(created), before)
  })

  test(`${id} of an unknown user group is 404 with any If-Match`, async () => {
    for (const ifMatch of ['*', '"999999.1"', '"1.1"', 'nonsense', '"999999.1", "999999.2"']) {
      const response = await admin[id](inputOf(id, { team_id: 999_999, provided_id: 'unknown' }, ifMatch))
      assertRefused(response, id, 'user_group_not_found')
    }
  })

  test(`of ten concurrent ${id} with one ETag exactly one succeeds`, async () => {
    const created = await prepare(id)
    const responses = await Promise.all(
      Array.from({ length: 10 }, () => admin[id](inputOf(id, created, `"${created.team_id}.2"`))),
    )
    const done = responses.filter(({ status }) => status === 200)
    assert.equal(done.length, 1)
    for (const response of responses.filter((one) => one !== done[0])) {
      // After the deletion the user group is unknown.
      const code = response.status === 404 ? 'user_group_not_found' : 'revision_mismatch'
      assert.ok(code === 'revision_mismatch' || id.startsWith('deleteUserGroup'))
      assertRefused(response, id, code)
    }
  })
}

test('several If-Match headers are one list', async () => {
  const created = await prepare('suspendUserGroup')
  const send = (...tags: string[]) =>
    responseTo(
      service.origin,
      requestText({
        method: 'POST',
        path: `/admin/v1/user-groups/${created.team_id}/suspend`,
        token: adminToken,
        headers: ['Connection: close', ...tags.map((tag) => `If-Match: ${tag}`)],
      }),
    )
  const { team_id } = created
  assertRefused(await send('"x"', `"${team_id}.1"`), 'suspendUserGroup', 'revision_mismatch')
  assert.equal((await send('"x"', `"${team_id}.2"`)).status, 200)
})

test('the ETag changes with each change and only then', async () => {
  const created = await create('etag')
  const etag = async () => (await admin.getUserGroup(of(created))).headers.etag ?? ''
  const seen = [await etag()]
  const { body } = inputs.patchUserGroup ?? {}
  const steps = [
    () => admin.patchUserGroup({ ...of(created), body }),
    () => admin.rotateTokenOfUserGroup({ ...of(created), body: {} }),
    () => admin.suspendUserGroup(of(created)),
    () => admin.resumeUserGroup(of(created)),
    () => admin.restoreUserGroupVersion({ params: { ...of(created).params, revision: 1 } }),
  ]
  for (const step of steps) {
    const response = await step()
    assert.equal(response.status, 200, response.text)
    const now = await etag()
    assert.match(now, /^"[!#-~]+"$/)
    assert.ok(!seen.includes(now))
    // The response with a new token has no ETag of the user group.
    assert.ok([undefined, now].includes(response.headers.etag))
    seen.push(now)
  }
  await admin.deleteUserGroup(of(created))
  await admin.restoreDeletedUserGroup(of(created))
  assert.ok(!seen.includes(await etag()))

  const last = await etag()
  await admin.patchUserGroup({ ...of(created), body: {} })
  await admin.resumeUserGroup(of(created))
  await admin.viewUserGroup(of(created))
  assert.equal(await etag(), last)
})

test('an ETag of a deleted user group does not match a new one with the same id', async () => {
  const created = await create('again')
  await admin.deleteUserGroup(of(created))
  const next = await create('again')
  const input = { ...of(next), body: { name: 'New' }, headers: { 'if-match': `"${created.team_id}.1"` } }
  assertRefused(await admin.patchUserGroup(input), 'patchUserGroup', 'revision_mismatch')
  assert.equal(managedIn(await admin.getUserGroup(of(next)), 'getUserGroup').name, 'again')
})
