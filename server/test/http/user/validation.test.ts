import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startService } from '../../support/service.ts'
import { assertFault, userApi, userGroupIn } from '../../support/user-api.ts'

const service = await startService({ after })
const api = userApi(service.origin, service.tokens.Testing)
await api.get({ user_group_id: 'known', name: 'Name' })

const shown = (value: unknown) => {
  const text = JSON.stringify(value)
  return text.length > 60 ? `${text.slice(0, 60)}… (${text.length})` : text
}

const validTexts = [
  'a',
  '0',
  '-',
  '😀',
  'a'.repeat(255),
  'é'.repeat(255),
  '😀'.repeat(255),
  ' leading and trailing ',
  '\u00a0x',
  '\u200ba',
  '\u2800é',
  '\u0301',
  '\ufffd',
  'null',
]
for (const text of validTexts) {
  test(`an id and a name may be ${shown(text)}`, async () => {
    const group = userGroupIn(await api.get({ user_group_id: text, name: text }))
    assert.deepEqual([group.provided_id, group.name], [text, text])
    const updated = userGroupIn(await api.put({ user_group_id: text, name: text }))
    assert.deepEqual([updated.provided_id, updated.name], [text, text])
  })
}

const controlCharacters = [
  ...Array.from({ length: 0x20 }, (_, code) => code),
  ...Array.from({ length: 0x21 }, (_, i) => 0x7f + i),
].map((code) => String.fromCharCode(code))

const invalidTexts = [
  '',
  ' ',
  '   ',
  '\u00a0',
  '\u2003\u3000',
  '\u200b',
  '\u00ad',
  '\u202e',
  '\u2800',
  '\u3164',
  '\u115f\u1160\uffa0',
  '\ufeff\u2060\ufe0f',
  '\u{e0041}\u{1d173}',
  '\u200b \u2800',
  '\u0085',
  'a\u0085',
  'a'.repeat(256),
  '😀'.repeat(256),
  'é'.repeat(256),
  'a'.repeat(100_000),
  'line\nbreak',
  'nul\u0000',
  '\u007f',
  1,
  0,
  1.5,
  true,
  false,
  null,
  [],
  ['a'],
  {},
]
for (const value of invalidTexts) {
  test(`an id or a name that is ${shown(value)} is refused`, async () => {
    for (const operation of [api.get, api.put]) {
      assertFault(await operation({ user_group_id: value, name: 'Name' }), 'validation_failed', [
        '/user_group_id',
      ])
      assertFault(await operation({ user_group_id: 'known', name: value }), 'validation_failed', ['/name'])
    }
    assert.equal(userGroupIn(await api.get({ user_group_id: 'known' })).name, 'Name')
  })
}

test('no control character is allowed anywhere in an id or a name', async () => {
  for (const character of controlCharacters) {
    for (const text of [character, `a${character}b`, `ab${character}`]) {
      const response = await api.get({ user_group_id: text, name: text })
      assertFault(response, 'validation_failed', ['/name', '/user_group_id'])
    }
  }
})

test('a missing user_group_id is named', async () => {
  for (const body of [{}, { name: 'Name' }, { mapping: {}, properties: {} }]) {
    assertFault(await api.get(body), 'validation_failed', ['/user_group_id'])
    assertFault(await api.put(body), 'validation_failed', ['/user_group_id'])
  }
})

const unknownFields: Record<string, string[]> = {
  '{"user_group_id":"new","name":"Name","nmae":"x"}': ['/nmae'],
  '{"user_group_id":"new","name":"Name","Name":"x","user_group_ID":"x"}': ['/Name', '/user_group_ID'],
  '{"user_group_id":"new","name":"Name","team_id":1,"token":"x"}': ['/team_id', '/token'],
  '{"user_group_id":"new","name":"Name","provided_id":"x"}': ['/provided_id'],
  '{"user_group_id":"new","name":"Name","api_environment_tag":"Customer"}': ['/api_environment_tag'],
  '{"user_group_id":"new","name":"Name","current_token":"x"}': ['/current_token'],
  '{"user_group_id":"new","name":"Name","grace_period_seconds":0}': ['/grace_period_seconds'],
  '{"user_group_id":"new","name":"Name","":null}': ['/'],
  '{"user_group_id":"new","name":"Name","a/b~c":1}': ['/a~1b~0c'],
  '{"user_group_id":"new","name":"Name","__proto__":{"name":"x"}}': ['/__proto__'],
  '{"__proto__":{"user_group_id":"new","name":"Name"}}': ['/__proto__', '/user_group_id'],
  '{"user_group_id":"new","name":"Name","constructor":{},"toString":1}': ['/constructor', '/toString'],
}
for (const [body, paths] of Object.entries(unknownFields)) {
  test(`an unknown field is refused and named: ${body}`, async () => {
    const { message } = assertFault(await api.get(body), 'validation_failed', paths)
    for (const path of paths) assert.ok(message.includes(path.slice(1)), message)
    assertFault(await api.put(body), 'validation_failed', paths)
    assertFault(await api.put({ user_group_id: 'new' }), 'user_group_not_found')
  })
}

test('all invalid fields are reported at once', async () => {
  const body = { user_group_id: 1, name: null, mapping: { a: 1 }, properties: [], unknown: true }
  const paths = ['/user_group_id', '/name', '/mapping/a', '/properties', '/unknown']
  assertFault(await api.get(body), 'validation_failed', paths)
})

test('properties that are too deep or too large are reported with the other invalid fields', async () => {
  const tooDeep = JSON.parse('{"a":'.repeat(33) + '1' + '}'.repeat(33)) as unknown
  for (const [properties, path] of [
    [tooDeep, '/properties'],
    [{ a: 'x'.repeat(70_000) }, '/properties'],
    [{ a: '\0' }, '/properties/a'],
  ] as const) {
    const paths = ['/name', path, '/user_group_id']
    assertFault(await api.get({ name: 1, properties }), 'validation_failed', paths)
  }
})

test('a long unknown field is reported in a well-formed response', async () => {
  for (const name of ['x'.repeat(1000), '😀'.repeat(500), `x${'😀'.repeat(500)}`]) {
    const response = await api.get({ user_group_id: 'known', [name]: 1 })
    const { error } = response.body as {
      error: { code: string; message: string; fields: { path: string }[] }
    }
    assert.equal(error.code, 'validation_failed')
    assert.equal(error.fields.length, 1)
    assert.ok(error.fields[0]?.path.startsWith(`/${name.slice(0, 10)}`))
    assert.ok(
      error.message.isWellFormed() && error.fields.every(({ path }) => path.isWellFormed()),
      response.text,
    )
  }
})

test('many errors still give a response of modest size', async () => {
  const mapping = Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`key ${i}`, i]))
  const response = await api.get({ user_group_id: 'known', mapping })
  const { error } = response.body as { error: { code: string; fields: unknown[] } }
  assert.equal(error.code, 'validation_failed')
  assert.ok(error.fields.length > 0)
  assert.ok(response.text.length < 64 * 1024)
})
