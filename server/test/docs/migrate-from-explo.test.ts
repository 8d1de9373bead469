import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { nginx, startNginx } from '../deploy/proxy-tools.ts'
import { rowsIn } from '../support/admin-api.ts'
import { createApiToken } from '../support/command.ts'
import { sendRequest, type HttpResponse } from '../support/http.ts'
import { freePort } from '../support/port.ts'
import { startService, temporaryFolder } from '../support/service.ts'
import { findTool, type Tool } from '../support/tool.ts'
import { readBlocks } from './blocks.ts'
import { runShell } from './shell.ts'

const page = 'docs/migrate-from-explo.md'
const jq: Tool = { name: 'jq', hint: 'apt-get install jq', commands: ['jq'], probe: ['--version'] }

/** A customer with the fields of Explo's Customer API. */
const customer = (number: number, fields: object) => ({
  token: 'a'.repeat(64),
  name: `Example ${number}`,
  provided_id: `example_${number}`,
  is_demo_group: false,
  emails: [],
  hierarchy_level: 'Customer',
  ...fields,
})

test('the conversion yields an import of all customers, with what they inherit', async (t) => {
  if (findTool(t, jq) === undefined) return
  const [convert] = readBlocks(page, 'Move your customers', 1)
  const folder = temporaryFolder(t)
  const mapping = { '40': '213', '134': '386' }
  const saved = {
    'customers-1.json': {
      count: 3,
      results: {
        customers: [
          customer(1, {
            group_tags: ['designers', 'engineers'],
            properties: { own: 1 },
            computed_properties: { own: 1, inherited: 'é' },
            parent_schema_datasource_mapping: {},
            computed_parent_schema_datasource_mapping: mapping,
          }),
          customer(2, { group_tags: [], computed_properties: {} }),
        ],
      },
    },
    'customers-2.json': { success: 1, customers: [customer(3, { computed_properties: null })] },
  }
  for (const [name, body] of Object.entries(saved)) writeFileSync(join(folder, name), JSON.stringify(body))
  await runShell(convert, folder)

  const service = await startService(t)
  const ugs = async (...args: string[]) => {
    const { code, stdout, stderr } = await service.ugs(...args, '--environment', 'Customer')
    assert.equal(code, 0, stderr)
    return stdout
  }
  await ugs('import', join(folder, 'customers.ndjson'))
  const file = join(folder, 'exported.ndjson')
  await ugs('export', file)
  assert.deepEqual(rowsIn({ text: readFileSync(file, 'utf8') }), [
    {
      user_group_id: 'example_1',
      name: 'Example 1',
      mapping,
      properties: { own: 1, inherited: 'é', group_tags: ['designers', 'engineers'] },
    },
    { user_group_id: 'example_2', name: 'Example 2', mapping: null, properties: {} },
    { user_group_id: 'example_3', name: 'Example 3', mapping: null, properties: {} },
  ])
})

test('nginx passes the calls of a backend of Explo on', async (t) => {
  const command = findTool(t, nginx)
  if (command === undefined) return
  const [configuration] = readBlocks(page, 'Keep your calls', 1)
  const service = await startService(t)
  const apiToken = await createApiToken(service, 'Customer')
  const port = await freePort()
  const server = configuration.replaceAll('http://user_group_service', service.origin)
  await startNginx(t, command, { port, server, readyPath: '/' })
  const call = (operation: string, body: object) =>
    sendRequest(`http://127.0.0.1:${port}`, {
      method: 'POST',
      path: `/api/${operation}/`,
      headers: { 'explo-authorization': `Token ${apiToken}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })

  const tokenOf = ({ body }: HttpResponse) => (body as { user_group: { token: string } }).user_group.token
  const created = await call('create_user_group', { user_group_id: 'example_1', name: 'Example 1' })
  const token = tokenOf(created)
  const updated = await call('update_user_group', { user_group_id: 'example_1', name: 'New name' })
  assert.equal(tokenOf(updated), token)
  const refreshed = await call('refresh_user_group_token', { current_token: token })
  assert.notEqual(tokenOf(refreshed), token)
  assert.equal((await call('refresh_user_group_token', { current_token: token })).status, 409)
})
