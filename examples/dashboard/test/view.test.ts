import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { checkTemplate, type UserGroup } from '@user-group-service/renderer'
import { Dashboard } from '../renderer/dashboard.js'
import { filters, templates } from '../renderer/queries.js'
import { openWarehouses, type Warehouses } from '../renderer/warehouses.js'
import { createWarehouse } from '../warehouses/seed.js'

describe('view', () => {
  const folder = mkdtempSync(join(tmpdir(), 'dashboard-'))
  let warehouses: Warehouses
  before(() => {
    createWarehouse(join(folder, 'eu.db'), 'eu')
    warehouses = openWarehouses(folder)
  })
  after(() => {
    warehouses.forEach((warehouse) => warehouse.close())
    rmSync(folder, { recursive: true })
  })

  const schema = { id: 1, providedId: 'sales' }
  const north: UserGroup = {
    providedId: 'customer-north',
    teamId: 1,
    name: 'North',
    environment: 'Testing',
    mapping: { sales: 'eu' },
    dataSources: { sales: { id: 2, providedId: 'eu', name: 'Warehouse EU', schema } },
    properties: { regions: ['Coast'], product_lines: ['Hardware'], plan: 'Basic' },
    viewer: { id: 'u-7', name: 'Ada', properties: {}, timeZone: null, locale: null },
    resources: null,
    token: { issuedAt: 0, expiresAt: null },
  }
  const introspection = { introspect: () => Promise.resolve(null) }
  const view = (userGroup: UserGroup, filter: Record<string, string> = {}, showsStatements = false) =>
    new Dashboard({ introspection, warehouses, schema: 'sales', showsStatements }).view(userGroup, filter)
  const withProperties = (properties: object): UserGroup => ({
    ...north,
    properties: { ...north.properties, ...properties },
  })

  it('has the data source of the schema, by whichever id the mapping names the schema', () => {
    const mappedBy = (key: string, providedId: string): UserGroup => ({
      ...north,
      mapping: { [key]: 'eu' },
      dataSources: {
        [key]: { id: 2, providedId: 'eu', name: 'Warehouse EU', schema: { id: 1, providedId } },
      },
    })
    for (const key of ['sales', '1']) assert.equal(view(mappedBy(key, 'sales')).dataSource, 'Warehouse EU')
    assert.throws(() => view(mappedBy('sales', 'stock')), { code: 'not_set_up' })
  })

  it('names the customer in every statement', () => {
    for (const template of Object.values(templates)) {
      checkTemplate(template, { dialect: 'sqlite', require: ['user_group.provided_id'], optional: filters })
    }
  })

  it('binds properties: none is interpreted as SQL, and none may be missing', () => {
    assert.ok(view(north).byProduct.length > 0)
    for (const properties of [{ regions: ["Coast' OR 1=1 --"] }, { product_lines: [] }])
      assert.deepEqual(view(withProperties(properties)).byProduct, [])
    assert.throws(() => view(withProperties({ product_lines: undefined })), {
      status: 422,
      message: /user_group\.properties\.product_lines is not set/,
    })
  })

  it('binds filters: none is interpreted as SQL, replaces a variable of the user group or must exist', () => {
    assert.deepEqual(view(north, { product: `' OR 1=1 --` }).byProduct, [])
    const others = { customer_id: 'customer-west', 'user_group.provided_id': 'customer-west' }
    assert.deepEqual(view(north, { ['__proto__']: 'x', ...others }), view(north))
    for (const from of [`2025-01-01' OR 1=1 --`, '2025-02-30'])
      assert.throws(
        () => view(north, { from }),
        ({ message }: Error) => message.includes('filter.from') && !/OR 1=1|02-30/.test(message),
      )
  })

  it('shows no more by a filter than the properties allow', () => {
    assert.ok(view(north, { product: 'Sensors' }).byProduct.length > 0)
    assert.deepEqual(
      view(withProperties({ product_lines: ['Software'] }), { product: 'Sensors' }).byProduct,
      [],
    )
  })

  it('has statements only in development', () => {
    assert.equal('statements' in view(north), false)
    assert.equal(view(north, {}, true).statements?.length, 2)
  })
})
