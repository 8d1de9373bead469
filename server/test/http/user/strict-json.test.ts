import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startService } from '../../support/service.ts'
import { assertFault, assertSuccess, userApi, userGroupIn } from '../../support/user-api.ts'

const service = await startService({ after })
const api = userApi(service.origin, service.tokens.Testing)

const shown = (text: string) => JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text)

/** Returns a body with exactly this text as its properties. */
const withProperties = (text: string) => `{"user_group_id":"strict","name":"Name","properties":${text}}`

async function assertNothingCreated(): Promise<void> {
  assertFault(await api.put({ user_group_id: 'refused' }), 'user_group_not_found')
}

for (const properties of [
  '{"n":[0,-0,0.0,-0.0,0e999,0E-999,-0e0]}',
  '{"n":[0.1,1.0,123e45,1.10,100,1e2,1E+2,1e-2,1E02]}',
  '{"n":[9007199254740991,-9007199254740991,9007199254740992,100000000000000000000,1e23]}',
  '{"n":[0.30000000000000004,0.10000000000000001,4.9E-324,1.7976931348623157e308,5e-324,2.2250738585072014e-308,0.000001]}',
  '{"b":1,"a":2,"10":3,"9":4,"":5," ":6}',
  '{"__proto__":{"a":1},"constructor":{"prototype":{}},"toString":null,"hasOwnProperty":[]}',
  '{"a":"\\u0041\\/\\b\\f\\n\\r\\t\\"\\\\","\\u00e9":"é","\\ud83d\\ude00":"😀"}',
  '{"a":"\\\\ud800 is text","b":"\\\\u0000 too"}',
  '{"a":"\u007f\u0080\u2028\u2029\ufeff\ufffe\uffff\u{10ffff}"}',
  '{"a":[{"k":1},{"k":2}],"k":{"k":{"k":[]}},"b":{"k":[true,false,null,"",{}]}}',
  '{}',
]) {
  test(`properties are returned byte for byte: ${shown(properties)}`, async () => {
    for (const response of [
      await api.get(withProperties(properties)),
      await api.put(withProperties(properties)),
    ]) {
      assertSuccess(response)
      assert.ok(response.text.includes(`"properties":${properties}`), response.text)
    }
    const again = await api.get({ user_group_id: 'strict' })
    assert.ok(again.text.includes(`"properties":${properties}`), again.text)
  })
}

test('white space is allowed between values and kept within strings', async () => {
  const body =
    ' \r\n\t{ "user_group_id" : "spaced" ,\n"name":" a  b " , "properties" : { "k  1" : [ 1 , "x : , y" ] } } \n'
  const group = userGroupIn(await api.get(body))
  assert.deepEqual(
    [group.provided_id, group.name, group.properties],
    ['spaced', ' a  b ', { 'k  1': [1, 'x : , y'] }],
  )
})

test('escapes in an id and a name are decoded', async () => {
  const escaped = await api.get('{"\\u0075ser_group_id":"\\u0061\\ud83d\\ude00","name":"\\u00e9\\/"}')
  const plain = await api.get({ user_group_id: 'a😀' })
  assert.deepEqual(userGroupIn(plain), userGroupIn(escaped))
  assert.equal(userGroupIn(plain).name, 'é/')
})

const refusedNumbers = [
  '12345678901234567890',
  '-12345678901234567890',
  '9007199254740993',
  '0.12345678901234567890',
  '1e400',
  '-1e400',
  '1e-400',
  '1.7976931348623159e308',
  '1000000000000000000001',
  '3.141592653589793238',
  '1' + '0'.repeat(400),
]
for (const number of refusedNumbers) {
  test(`a number beyond a double is refused with its place: ${shown(number)}`, async () => {
    const positions = {
      '/properties/n': `{"n":${number}}`,
      '/properties/a/1/n': `{"a":[1,{"n":${number}}]}`,
      '/properties/x~1y~0z': `{"x/y~z":${number}}`,
    }
    for (const [path, properties] of Object.entries(positions)) {
      const { message } = assertFault(await api.get(withProperties(properties)), 'malformed_json', [path])
      assert.ok(message.includes(path), message)
    }
    const asId = `{"user_group_id":${number},"name":"Name"}`
    assertFault(await api.get(asId), 'malformed_json', ['/user_group_id'])
  })
}

const duplicates: Record<string, string> = {
  '/name': '{"user_group_id":"refused","name":"One","name":"One"}',
  '/user_group_id': '{"user_group_id":"refused","name":"One","\\u0075ser_group_i\\u0064":"other"}',
  '/mapping/1': '{"user_group_id":"refused","name":"One","mapping":{"1":"a","2":"b","1":"a"}}',
  '/properties/a': '{"user_group_id":"refused","name":"One","properties":{"a":1,"a":1}}',
  '/properties/a/b/0/c':
    '{"user_group_id":"refused","name":"One","properties":{"a":{"b":[{"c":1,"d":2,"\\u0063":3}]}}}',
  '/properties/é': '{"user_group_id":"refused","name":"One","properties":{"é":1,"\\u00e9":1}}',
  '/properties/😀': '{"user_group_id":"refused","name":"One","properties":{"😀":1,"\\uD83d\\ude00":1}}',
  '/properties/': '{"user_group_id":"refused","name":"One","properties":{"":1,"":2}}',
  '/properties/__proto__':
    '{"user_group_id":"refused","name":"One","properties":{"__proto__":{},"__proto__":{}}}',
  '/properties/x/constructor':
    '{"user_group_id":"refused","name":"One","properties":{"x":{"constructor":1,"constructor":2}}}',
  '/unknown': '{"user_group_id":"refused","name":"One","unknown":1,"unknown":2}',
}
for (const [path, body] of Object.entries(duplicates)) {
  test(`a duplicate key is refused, also if it is escaped: ${path}`, async () => {
    const { message } = assertFault(await api.get(body), 'malformed_json', [path])
    assert.ok(message.includes(path), message)
    assertFault(await api.put(body), 'malformed_json', [path])
    await assertNothingCreated()
  })
}

test('a duplicate key in a rotation is refused and rotates nothing', async () => {
  const { token } = userGroupIn(await api.get({ user_group_id: 'rotation', name: 'Name' }))
  const body = `{"current_token":"${token}","current_token":"${token}"}`
  assertFault(await api.post(body), 'malformed_json', ['/current_token'])
  assert.equal(userGroupIn(await api.get({ user_group_id: 'rotation' })).token, token)
})

for (const lone of [
  '\\ud800',
  '\\udfff',
  '\\uD83D',
  'x\\ude00y',
  '\\ude00\\ud83d',
  '\\ud83d\\ud83d\\ude00',
  '\\ud83d\\ude00\\ude00',
  '\\ud83dx\\ude00',
  '\\ud83d\\u0041',
  '\\\\\\ud83d',
]) {
  test(`a lone surrogate is refused with its place: ${lone}`, async () => {
    const bodies = [
      { path: '/name', body: `{"user_group_id":"refused","name":"${lone}"}` },
      { path: '/user_group_id', body: `{"user_group_id":"${lone}","name":"Name"}` },
      { path: '/mapping/1', body: `{"user_group_id":"refused","name":"Name","mapping":{"1":"${lone}"}}` },
      {
        path: '/properties/a/0',
        body: `{"user_group_id":"refused","name":"Name","properties":{"a":["${lone}"]}}`,
      },
    ]
    for (const { path, body } of bodies) {
      const { message } = assertFault(await api.get(body), 'malformed_json', [path])
      assert.match(message, /surrogate/)
    }
    await assertNothingCreated()
  })
}

test('a lone surrogate in a key is refused with a well-formed response', async () => {
  for (const body of [
    '{"user_group_id":"refused","name":"Name","properties":{"\\ud800":1}}',
    '{"user_group_id":"refused","name":"Name","\\udc00":1}',
    '{"user_group_id":"refused","name":"Name","mapping":{"\\ud800":"1"}}',
  ]) {
    const response = await api.get(body)
    const { error } = response.body as {
      error: { code: string; message: string; fields: { path: string }[] }
    }
    assert.equal(error.code, 'malformed_json')
    assert.equal(error.fields.length, 1)
    assert.ok(error.message.isWellFormed() && error.fields.every(({ path }) => path.isWellFormed()))
  }
  await assertNothingCreated()
})

const bytes = (...parts: (string | number[])[]) =>
  Buffer.concat(parts.map((part) => Buffer.from(part as string)))
const inName = (...name: number[]) => bytes('{"user_group_id":"refused","name":"', name, '"}')

for (const [title, body] of Object.entries({
  'Latin-1': inName(0xe9),
  'a continuation byte alone': inName(0x80),
  'an overlong form': inName(0xc0, 0xaf),
  'a surrogate as UTF-8': inName(0xed, 0xa0, 0x80),
  'a surrogate pair as UTF-8': inName(0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80),
  'a code point above U+10FFFF': inName(0xf4, 0x90, 0x80, 0x80),
  'a byte that UTF-8 never has': inName(0xff),
  'a sequence cut short': bytes('{"user_group_id":"refused","name":"', [0xf0, 0x9f, 0x98]),
  'UTF-16 with a byte order mark': Buffer.from('\ufeff{"user_group_id":"refused","name":"Name"}', 'utf16le'),
})) {
  test(`invalid UTF-8 is refused: ${title}`, async () => {
    assert.match(assertFault(await api.get(body), 'malformed_json').message, /UTF-8/)
    await assertNothingCreated()
  })
}

test('a byte order mark is refused and named', async () => {
  const body = bytes([0xef, 0xbb, 0xbf], '{"user_group_id":"refused","name":"Name"}')
  assert.match(assertFault(await api.get(body), 'malformed_json').message, /byte order mark/)
  await assertNothingCreated()
})

for (const body of [
  ' ',
  'nul',
  '{',
  '}',
  '"',
  '{"user_group_id":"refused","name":"Name"',
  '{"user_group_id":"refused","name":"Name",}',
  '{"user_group_id":"refused","name":"Name"}}',
  '{"user_group_id":"refused","name":"Name"}{}',
  '{"user_group_id":"refused","name":"Name"}\u0000',
  '{"user_group_id":"refused","name":"Name"} // comment',
  "{'user_group_id':'refused','name':'Name'}",
  '{user_group_id:"refused","name":"Name"}',
  '{"user_group_id":"refused","name":"a\nb"}',
  '{"user_group_id":"refused","name":"\\x41"}',
  '{"user_group_id":"refused","name":"\\u00"}',
  withProperties('{"a":NaN}'),
  withProperties('{"a":-Infinity}'),
  withProperties('{"a":+1}'),
  withProperties('{"a":.5}'),
  withProperties('{"a":1.}'),
  withProperties('{"a":01}'),
  withProperties('{"a":0x1}'),
  withProperties('{"a":[1,]}'),
  withProperties('{"a":undefined}'),
  '\u00a0{}',
  'user_group_id=refused&name=Name',
]) {
  test(`invalid JSON is refused with its place: ${shown(body)}`, async () => {
    assert.match(assertFault(await api.get(body), 'malformed_json').message, /line \d+, column \d+/)
    await assertNothingCreated()
  })
}

for (const body of ['[]', '[{"user_group_id":"refused"}]', '"text"', '0', 'null', 'true']) {
  test(`JSON other than an object is refused: ${body}`, async () => {
    assertFault(await api.get(body), 'validation_failed', [''])
    assertFault(await api.put(body), 'validation_failed', [''])
    assertFault(await api.post(body), 'validation_failed', [''])
  })
}

test('the deepest nesting that fits a body is refused without an internal error', async () => {
  const levels = 200_000
  const nested = (open: string, close: string) => open.repeat(levels) + close.repeat(levels)
  assertFault(await api.get('['.repeat(levels)), 'validation_failed', [''])
  assertFault(await api.get(nested('[', ']')), 'validation_failed', [''])
  assertFault(await api.get(withProperties(`{"a":${nested('[', ']')}}`)), 'validation_failed', [
    '/properties',
  ])
  const objects = '{"a":'.repeat(100_000) + '1' + '}'.repeat(100_000)
  assertFault(await api.get(withProperties(objects)), 'validation_failed', ['/properties'])
  assertSuccess(await api.get(withProperties('{}')))
})
