import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { assertSucceeded, assertRefused, managedIn, of, startManaged } from '../../support/admin-api.ts'
import { assertActive } from '../../support/introspection.ts'

// With UGS_MAPPING=registered, each way to change a mapping refuses unregistered entries.

const { service, admin, introspect, create } = await startManaged({ after }, { UGS_MAPPING: 'registered' })

const register = async (provided_id: string, dataSource: string) => {
  const { schema } = assertSucceeded<{ schema: { id: number } }>(
    await admin.createSchema({ body: { provided_id, name: provided_id } }),
    'createSchema',
  )
  const body = { schema_id: schema.id, provided_id: dataSource, name: dataSource }
  return assertSucceeded<{ data_source: { id: number } }>(
    await admin.createDataSource({ body }),
    'createDataSource',
  ).data_source.id
}
const eu = await register('sales', 'eu')
const us = await register('support', 'us')

test('PATCH accepts registered entries by provided id or id', async () => {
  const created = await create('patched')
  for (const mapping of [{ sales: 'eu' }, { sales: String(eu), support: 'us' }, {}, null])
    managedIn(await admin.patchUserGroup({ ...of(created), body: { mapping } }), 'patchUserGroup')
})

test('PATCH refuses unregistered entries, lists each, and changes nothing', async () => {
  const created = await create('refused', { mapping: { sales: 'eu' } })
  const before = (await admin.getUserGroup(of(created))).text
  const body = { name: 'New', mapping: { nowhere: 'eu', sales: 'us', support: 'us', 'a/b': 'c' } }
  const { message } = assertRefused(
    await admin.patchUserGroup({ ...of(created), body }),
    'patchUserGroup',
    'validation_failed',
    ['/mapping/nowhere', '/mapping/sales', '/mapping/a~1b'],
  )
  assert.match(message, /is not a registered schema.*is not a registered data source of this schema/)
  assert.equal((await admin.getUserGroup(of(created))).text, before)
})

test('a PATCH with an outdated ETag is 412 for any mapping', async () => {
  const created = await create('changed')
  const input = { ...of(created), body: { mapping: { x: 'y' } }, headers: { 'if-match': '"1.999"' } }
  assertRefused(await admin.patchUserGroup(input), 'patchUserGroup', 'revision_mismatch')
})

test('a version with a deleted data source in its mapping is not restored', async () => {
  const created = await create('restored', { mapping: { support: 'us' } })
  await admin.patchUserGroup({ ...of(created), body: { name: 'Second', mapping: { sales: 'eu' } } })
  assertSucceeded(await admin.deleteDataSource({ params: { id: us } }), 'deleteDataSource')
  const before = (await admin.getUserGroup(of(created))).text
  const restore = (revision: number) =>
    admin.restoreUserGroupVersion({ params: { ...of(created).params, revision } })
  assertRefused(await restore(1), 'restoreUserGroupVersion', 'validation_failed', ['/mapping/support'])
  assert.equal((await admin.getUserGroup(of(created))).text, before)

  await admin.patchUserGroup({ ...of(created), body: { mapping: null } })
  const response = await restore(2)
  assert.deepEqual(managedIn(response, 'restoreUserGroupVersion').mapping, { sales: 'eu' })
  assert.deepEqual(Object.keys(assertActive(await introspect(created.token)).data_sources), ['sales'])
})

test('these requests caused no error in the log', () => {
  assert.doesNotMatch(service.stderr(), /"level":[56]0/)
})
