import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { showUserGroup } from '../../support/command.ts'
import { startService } from '../../support/service.ts'
import { assertFault, assertSuccess, userApi } from '../../support/user-api.ts'

const service = await startService({ after })
const api = userApi(service.origin, service.tokens.Testing)

const entries = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`schema ${i}`, `source ${i}`]))

const longKeys = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [String(i).padStart(255, 'k'), 'v'.repeat(255)]))

const validMappings: Record<string, Record<string, string> | null> = {
  'one entry': { '40': '213' },
  '1,000 entries': entries(1000),
  '1,000 entries of the longest': longKeys(1000),
  'keys and values of 255 characters': { ['k'.repeat(255)]: 'v'.repeat(255) },
  'keys and values of 255 characters outside the BMP': { ['😀'.repeat(255)]: '𝒳'.repeat(255) },
  'keys and values of one character': { a: 'b', ' ': ' ' },
  'keys that objects have already': JSON.parse(
    '{"__proto__":"1","constructor":"2","toString":"3"}',
  ) as Record<string, string>,
  nothing: {},
  null: null,
}
for (const [title, mapping] of Object.entries(validMappings)) {
  test(`a mapping may have ${title}, and is stored as sent`, async () => {
    assertSuccess(await api.get({ user_group_id: title, name: 'Name', mapping }))
    const kept = mapping === null || Object.keys(mapping).length === 0 ? null : mapping
    assert.deepEqual((await showUserGroup(service, title)).mapping, kept)
    assertSuccess(await api.put({ user_group_id: title, mapping: { other: '1' } }))
    assertSuccess(await api.put({ user_group_id: title, mapping }))
    assert.deepEqual((await showUserGroup(service, title)).mapping, kept)
  })
}

const invalidMappings: Record<string, { mapping: unknown; paths: string[] }> = {
  'is a string': { mapping: 'x', paths: ['/mapping'] },
  'is a string of JSON': { mapping: '{"40":"213"}', paths: ['/mapping'] },
  'is a number': { mapping: 1, paths: ['/mapping'] },
  'is a boolean': { mapping: false, paths: ['/mapping'] },
  'is an array': { mapping: [], paths: ['/mapping'] },
  'is an array of pairs': { mapping: [['40', '213']], paths: ['/mapping'] },
  'has 1,001 entries': { mapping: entries(1001), paths: ['/mapping'] },
  'has a number': { mapping: { '40': 213 }, paths: ['/mapping/40'] },
  'has a null': { mapping: { a: '1', b: null }, paths: ['/mapping/b'] },
  'has a boolean': { mapping: { a: true }, paths: ['/mapping/a'] },
  'has an object': { mapping: { a: {} }, paths: ['/mapping/a'] },
  'has an array': { mapping: { a: ['213'] }, paths: ['/mapping/a'] },
  'has an empty value': { mapping: { a: '' }, paths: ['/mapping/a'] },
  'has an empty key': { mapping: { '': '213' }, paths: ['/mapping/'] },
  'has a value of 256 characters': { mapping: { a: 'v'.repeat(256) }, paths: ['/mapping/a'] },
  'has a value of 256 characters outside the BMP': {
    mapping: { a: '😀'.repeat(256) },
    paths: ['/mapping/a'],
  },
  'has U+0000 in a value': { mapping: { a: 'b\0' }, paths: ['/mapping/a'] },
  'has U+0000 in a key': { mapping: { 'a\0': 'b' }, paths: ['/mapping/a\0'] },
  'has a key to be escaped': { mapping: { 'a/b~c': 1 }, paths: ['/mapping/a~1b~0c'] },
  'has a number under __proto__': {
    mapping: JSON.parse('{"__proto__":1,"constructor":2}'),
    paths: ['/mapping/__proto__', '/mapping/constructor'],
  },
  'has several faults': { mapping: { a: 1, b: '2', c: '' }, paths: ['/mapping/a', '/mapping/c'] },
}
for (const [title, { mapping, paths }] of Object.entries(invalidMappings)) {
  test(`a mapping that ${title} is refused with its place`, async () => {
    const body = { user_group_id: 'refused', name: 'Name', mapping }
    assertFault(await api.get(body), 'validation_failed', paths)
    assertFault(await api.put(body), 'validation_failed', paths)
    assertFault(await api.put({ user_group_id: 'refused' }), 'user_group_not_found')
  })
}

test('a mapping with a key of 256 characters is refused', async () => {
  for (const key of ['k'.repeat(256), '😀'.repeat(256)]) {
    const response = await api.get({ user_group_id: 'refused', name: 'Name', mapping: { [key]: '1' } })
    const { error } = response.body as { error: { code: string; fields: { path: string }[] } }
    assert.equal(error.code, 'validation_failed')
    assert.equal(error.fields.length, 1)
    assert.ok(error.fields[0]?.path.startsWith(`/mapping/${key.slice(0, 10)}`), response.text)
  }
  assertFault(await api.put({ user_group_id: 'refused' }), 'user_group_not_found')
})
