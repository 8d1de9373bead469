import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { assertRefused, assertSucceeded, manage, startManaged } from '../../support/admin-api.ts'
import { runCommand } from '../../support/command.ts'
import { Upload } from '../../support/upload.ts'

const { service, admin, adminToken } = await startManaged({ after })
await runCommand(service, 'workspace', 'create', 'other')
const other = await manage(service, 'Customer', 'other')

const row = (id: string) => `{"user_group_id":"${id}","name":"Name"}\n`

test('imports of one workspace that do not end leave room for another workspace', async () => {
  const refused: Upload[] = []
  const uploads = Array.from({ length: 20 }, () => new Upload(service.origin, adminToken))
  for (const upload of uploads) {
    void upload.response.then(
      () => refused.push(upload),
      () => undefined,
    )
    await upload.send(row('a'))
  }
  while (refused.length < 4) await sleep(5)
  for (const upload of refused) assertRefused(await upload.response, 'importUserGroups', 'unavailable')
  assertRefused(await admin.exportUserGroups(), 'exportUserGroups', 'unavailable')
  assertSucceeded(await admin.searchUserGroups(), 'searchUserGroups')
  assertSucceeded(await other.admin.importUserGroups({ body: row('b') }), 'importUserGroups')
  assertSucceeded(await other.admin.exportUserGroups(), 'exportUserGroups')
  // The others are still in flight.
  assert.equal(refused.length, 4)
  for (const upload of uploads) if (!refused.includes(upload)) await upload.abandon()
  while ((await admin.importUserGroups({ body: row('c') })).status !== 200) await sleep(5)
})
