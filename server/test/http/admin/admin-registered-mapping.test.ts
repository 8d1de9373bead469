import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { assertAnswers, assertRefused, managedIn, of, startManaged } from '../../support/admin-api.ts'
import { assertActive } from '../../support/introspection.ts'

// With UGS_MAPPING=registered, a mapping may name nothing but what is registered: by whatever way it is written.

const { service, admin, introspect, create } = await startManaged({ after }, { UGS_MAPPING: 'registered' })

const register = async (provided_id: string, dataSource: string) => {
  const { schema } = assertAnswers<{ schema: { id: number } }>(
    await admin.createSchema({ body: { provided_id, name: provided_id } }),
    'createSchema',
  )
  const body = { schema_id: schema.id, provided_id: dataSource, name: dataSource }
  return assertAnswers<{ data_source: { id: number } }>(
    await admin.createDataSource({ body }),
    'createDataSource',
  ).data_source.id
}
const eu = await register('sales', 'eu')
const us = await register('support', 'us')

test('PATCH takes what is registered, by either id', async () => {
  const made = await create('patched')
  for (const mapping of [{ sales: 'eu' }, { sales: String(eu), support: 'us' }, {}, null])
    managedIn(await admin.patchUserGroup({ ...of(made), body: { mapping } }), 'patchUserGroup')
})

test('PATCH refuses what is not registered, names each entry, and changes nothing', async () => {
  const made = await create('refused', { mapping: { sales: 'eu' } })
  const before = (await admin.getUserGroup(of(made))).text
  const body = { name: 'New', mapping: { nowhere: 'eu', sales: 'us', support: 'us', 'a/b': 'c' } }
  const { message } = assertRefused(
    await admin.patchUserGroup({ ...of(made), body }),
    'patchUserGroup',
    'validation_failed',
    ['/mapping/nowhere', '/mapping/sales', '/mapping/a~1b'],
  )
  assert.match(message, /is no registered schema.*is no registered data source of this schema/)
  assert.equal((await admin.getUserGroup(of(made))).text, before)
})

test('a PATCH of a user group that has been changed since is 412, whatever its mapping is', async () => {
  const made = await create('changed')
  const input = { ...of(made), body: { mapping: { x: 'y' } }, headers: { 'if-match': '"1.999"' } }
  assertRefused(await admin.patchUserGroup(input), 'patchUserGroup', 'revision_mismatch')
})

test('a version whose mapping names what was removed since is not restored', async () => {
  const made = await create('restored', { mapping: { support: 'us' } })
  await admin.patchUserGroup({ ...of(made), body: { name: 'Second', mapping: { sales: 'eu' } } })
  assertAnswers(await admin.deleteDataSource({ params: { id: us } }), 'deleteDataSource')
  const before = (await admin.getUserGroup(of(made))).text
  const restore = (revision: number) =>
    admin.restoreUserGroupVersion({ params: { ...of(made).params, revision } })
  assertRefused(await restore(1), 'restoreUserGroupVersion', 'validation_failed', ['/mapping/support'])
  assert.equal((await admin.getUserGroup(of(made))).text, before)

  await admin.patchUserGroup({ ...of(made), body: { mapping: null } })
  const response = await restore(2)
  assert.deepEqual(managedIn(response, 'restoreUserGroupVersion').mapping, { sales: 'eu' })
  assert.deepEqual(Object.keys(assertActive(await introspect(made.token)).data_sources), ['sales'])
})

test('nothing of all that was a defect of the service', () => {
  assert.doesNotMatch(service.stderr(), /"level":[56]0/)
})
