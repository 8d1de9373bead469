import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { assertSucceeded, startManaged, type AdminUserGroup } from '../support/admin-api.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { readBlocks } from './blocks.ts'
import { runShell } from './shell.ts'

const page = 'docs/offboard-a-customer.md'
const { service, admin, create, introspect } = await startManaged({ after })
const folder = temporaryFolder({ after })

/** Runs a block on the store of the service. */
const run = (block: string) =>
  runShell(block, folder, {
    UGS_DATA_DIR: service.dataFolder,
    ...(service.databaseUrl !== undefined && { DATABASE_URL: service.databaseUrl }),
  })

async function find(id: string): Promise<AdminUserGroup | undefined> {
  const { user_groups } = assertSucceeded<{ user_groups: AdminUserGroup[] }>(
    await admin.searchUserGroups({ query: { user_group_id_prefix: id } }),
    'searchUserGroups',
  )
  return user_groups.find(({ provided_id }) => provided_id === id)
}
const isActive = async (token: string) => ((await introspect(token)).body as { active: boolean }).active

test('a customer gets another id', async () => {
  const [copy, remove] = readBlocks(page, 'Give a customer another id', 2)
  const fields = {
    name: 'Example "42"',
    mapping: { sales: 'eu' },
    properties: { user_group_id: 'customer-42' },
  }
  const old = await create('customer-42', fields)
  const other = await create('customer-421')
  await run(copy)
  const { name, mapping, properties } = (await find('acme')) as AdminUserGroup
  assert.deepEqual({ name, mapping, properties }, fields)
  assert.equal(await isActive(old.token), true)
  await run(remove)
  assert.equal(await find('customer-42'), undefined)
  assert.deepEqual([await isActive(old.token), await isActive(other.token)], [false, true])
})

test('two ids of one customer become one', async () => {
  const [update, remove] = readBlocks(page, 'Merge two ids of one customer', 2)
  await create('acme')
  const old = await create('acme-us')
  await run(update)
  assert.deepEqual((await find('acme'))?.properties, { regions: ['EU', 'US'] })
  await run(remove)
  assert.equal(await find('acme-us'), undefined)
  assert.equal(await isActive(old.token), false)
})

test('a customer is erased', async () => {
  const [remove, erase] = readBlocks(page, 'Erase a customer', 2)
  const { team_id } = await create('customer-42')
  await run(remove)
  const output = await run(erase.replace('erase 7', `erase ${team_id}`))
  assert.match(output, /customer-42/)
  assert.match(output, /^erased audit_events +2$/m)
  assert.match(output, /^retained in backups +Backups have everything/m)
  const listed = await run('npx ugs user-group list-deleted --environment Customer --json')
  assert.ok(!(JSON.parse(listed) as { team_id: number }[]).some((one) => one.team_id === team_id))
})
