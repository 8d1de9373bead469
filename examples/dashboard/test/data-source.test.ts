import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { UserGroup } from '@user-group-service/renderer'
import { Dashboard } from '../renderer/dashboard.js'
import { openWarehouses } from '../renderer/warehouses.js'
import { createWarehouse } from '../warehouses/seed.js'

test('the data source is that of the schema, by whichever id the mapping names the schema', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'dashboard-'))
  t.after(() => rmSync(folder, { recursive: true }))
  createWarehouse(join(folder, 'eu.db'), 'eu')
  const warehouses = openWarehouses(folder)
  t.after(() => warehouses.forEach((warehouse) => warehouse.close()))
  const introspection = { introspect: () => Promise.resolve(null) }
  const dashboard = new Dashboard({ introspection, warehouses, schema: 'sales', showsStatements: false })
  const view = (key: string, schemaId: string) => {
    const schema = { id: 1, providedId: schemaId }
    const userGroup: UserGroup = {
      providedId: 'customer-north',
      teamId: 1,
      name: 'North',
      environment: 'Testing',
      mapping: { [key]: 'eu' },
      dataSources: { [key]: { id: 2, providedId: 'eu', name: 'Warehouse EU', schema } },
      properties: { regions: ['Coast'], product_lines: ['Hardware'], plan: 'Basic' },
      viewer: { id: 'u-7', name: 'Ada', properties: {}, timeZone: null, locale: null },
      resources: null,
      token: { issuedAt: 0, expiresAt: null },
    }
    return dashboard.view(userGroup, {})
  }
  for (const key of ['sales', '1']) assert.equal(view(key, 'sales').dataSource, 'Warehouse EU')
  assert.throws(() => view('sales', 'stock'), { code: 'not_set_up' })
})
