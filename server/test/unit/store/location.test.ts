import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseDatabaseUrl } from '../../../src/config/database-url.ts'
import { describeLocation } from '../../../src/store/location.ts'

const descriptions: Record<string, string> = {
  'sqlite:/var/lib/ugs/ugs.db': '/var/lib/ugs/ugs.db',
  'postgres://ugs:hunter2@db.example.com/groups?sslmode=verify-ca': 'postgres://db.example.com:5432/groups',
  'postgres://ugs:hunter2@db1:5433,db2/groups': 'postgres://db1:5433,db2:5432/groups',
  'postgres://ugs@[::1]/groups': 'postgres://[::1]:5432/groups',
}
for (const [url, description] of Object.entries(descriptions)) {
  test(`a store is described without user and password: ${url}`, () => {
    assert.equal(describeLocation(parseDatabaseUrl(url)), description)
  })
}
