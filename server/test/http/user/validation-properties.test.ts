import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startService } from '../../support/service.ts'
import { assertFault, userApi, userGroupIn } from '../../support/user-api.ts'

const service = await startService({ after })
const api = userApi(service.origin, service.tokens.Testing)

const maxBytes = 64 * 1024

/** Returns the JSON of properties with this many levels; the object itself is the first. */
const nestedObjects = (levels: number) => '{"a":'.repeat(levels - 1) + '{}' + '}'.repeat(levels - 1)
const nestedArrays = (levels: number) => `{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`

/** Returns properties whose JSON has exactly this many bytes. */
function sized(bytes: number, character = 'x'): string {
  const room = bytes - Buffer.byteLength('{"a":""}')
  const size = Buffer.byteLength(character)
  return `{"a":"${character.repeat(Math.floor(room / size))}${'x'.repeat(room % size)}"}`
}

const body = (id: string, properties: string) =>
  `{"user_group_id":"${id}","name":"Name","properties":${properties}}`

const validProperties: Record<string, string> = {
  null: 'null',
  nothing: '{}',
  'one level of every type': '{"s":"","n":1,"t":true,"f":false,"z":null,"a":[],"o":{}}',
  '32 levels of objects': nestedObjects(32),
  '32 levels of arrays': nestedArrays(32),
  '32 levels, twice next to each other': `{"a":${nestedObjects(31)},"b":${nestedObjects(31)}}`,
  '64 KiB': sized(maxBytes),
  '64 KiB in characters of four bytes': sized(maxBytes, '😀'),
  '64 KiB without the escapes': sized(maxBytes, '😀')
    .replaceAll('😀', '\\ud83d\\ude00')
    .replaceAll('x', '\\/'),
  'a key of a thousand characters': `{"${'k'.repeat(1000)}":1}`,
  'an empty key': '{"":{"":""}}',
  'keys that objects have already': '{"__proto__":{"x":1},"constructor":{"prototype":{"y":2}}}',
  'control characters but U+0000': '{"a\\u0001":"\\u001f\\n\\u007f"}',
  'two thousand keys': JSON.stringify(
    Object.fromEntries(Array.from({ length: 2000 }, (_, i) => [`k${i}`, i])),
  ),
}
for (const [title, properties] of Object.entries(validProperties)) {
  test(`properties may be or have ${title}, and are returned as sent`, async () => {
    for (const response of [
      await api.get(body(title, properties)),
      await api.get({ user_group_id: title }),
      await api.put(body(title, properties)),
    ]) {
      userGroupIn(response)
      assert.ok(response.text.includes(`"properties":${properties}`), response.text.slice(0, 300))
    }
  })
}

const invalidProperties: Record<string, string> = {
  'are a string': '"x"',
  'are a string of JSON': '"{}"',
  'are a number': '0',
  'are a boolean': 'true',
  'are an array': '[]',
  'are an array of objects': '[{"a":1}]',
  'are 33 levels of objects': nestedObjects(33),
  'are 33 levels of arrays': nestedArrays(33),
  'are 64 KiB and a byte': sized(maxBytes + 1),
  'are 64 KiB and a byte in characters of four bytes': sized(maxBytes + 1, '😀'),
  'are 64 KiB and a byte without the escapes': sized(maxBytes + 1).replaceAll('x', '\\u0078'),
  'are 64 KiB and a byte in escapes that JSON requires': sized(maxBytes + 1, '\\u001f'),
}
for (const [title, properties] of Object.entries(invalidProperties)) {
  test(`properties that ${title} are refused`, async () => {
    assertFault(await api.get(body('refused', properties)), 'validation_failed', ['/properties'])
    assertFault(await api.put(body('refused', properties)), 'validation_failed', ['/properties'])
    assertFault(await api.put({ user_group_id: 'refused' }), 'user_group_not_found')
  })
}

for (const [path, properties] of Object.entries({
  '/properties/a': '{"a":"\\u0000"}',
  '/properties/a\0b': '{"a\\u0000b":1}',
  '/properties/a/1/b/0': '{"a":["",{"b":["c\\u0000"]}],"d":"\\u0000"}',
  '/properties/a~1b/\0': '{"a/b":{"\\u0000":"\\u0000"}}',
})) {
  test(`U+0000 in properties is refused with its place: ${properties}`, async () => {
    assertFault(await api.get(body('refused', properties)), 'validation_failed', [path])
    assertFault(await api.put(body('refused', properties)), 'validation_failed', [path])
  })
}

test('a key such as __proto__ does not affect other objects', async () => {
  await api.get(body('prototype', '{"__proto__":{"name":"polluted","isPolluted":true}}'))
  const other = userGroupIn(await api.get({ user_group_id: 'other', name: 'Name', properties: {} }))
  assert.deepEqual(other.properties, {})
  assertFault(await api.get({ user_group_id: 'nameless' }), 'name_required', ['/name'])
})
