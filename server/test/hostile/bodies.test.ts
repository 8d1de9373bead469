import { after, test } from 'node:test'
import { startService } from '../support/service.ts'
import { assertFault, assertSuccess, userApi, type ErrorCode } from '../support/user-api.ts'

// Bodies that are valid HTTP and as expensive as possible. Most are refused at a limit, whatever follows. contract/json/json-scan.test.ts
// and contract/json/strict-json-cost.test.ts test the cost of reading them, and `npm run bench -- hostile-json` measures it.

const service = await startService({ after })
const api = userApi(service.origin, service.tokens.Testing)
const limit = 1024 * 1024

const arrays = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)
const objects = (levels: number) => '{"a":'.repeat(levels) + '1' + '}'.repeat(levels)
/** Repeats a text up to the maximum size of a body. */
function filled(open: string, itemOf: (i: number) => string, close: string): string {
  const items: string[] = []
  let length = open.length + close.length
  for (let i = 0; ; i++) {
    const item = itemOf(i)
    length += item.length + 1
    if (length > limit - 100) return open + items.join() + close
    items.push(item)
  }
}

const inProperties = (text: string) => `{"user_group_id":"costly","name":"Name","properties":${text}}`
const inMapping = (text: string) => `{"user_group_id":"costly","name":"Name","mapping":${text}}`
const inName = (text: string) => `{"user_group_id":"costly","name":${text}}`
const start = '{"user_group_id":"costly","name":"Name",'

type Case = readonly [body: string | Buffer, code: ErrorCode, ...paths: string[]]
const nested = [10_000, 50_000].flatMap((levels) =>
  [arrays, objects].flatMap((nest): [string, Case][] => {
    const title = `${levels} ${nest.name}`
    return [
      [`${title} as the body`, [nest(levels), 'validation_failed', nest === arrays ? '' : '/a']],
      [`${title} as a field that there is not`, [`${start}"a":${nest(levels)}}`, 'validation_failed', '/a']],
      [`${title} as the name`, [inName(nest(levels)), 'validation_failed', '/name']],
      [`${title} as the mapping`, [inMapping(nest(levels)), 'validation_failed', '/mapping']],
      [
        `${title} in the properties`,
        [inProperties(`{"a":${nest(levels)}}`), 'validation_failed', '/properties'],
      ],
      [
        `${title} that do not close`,
        [inProperties(nest(levels).slice(0, -1)), 'validation_failed', '/properties'],
      ],
    ]
  }),
)

const cases: Record<string, Case> = {
  ...Object.fromEntries(nested),
  '1 MiB of [': ['['.repeat(limit), 'validation_failed', ''],
  '1 MiB of {"a":': ['{"a":'.repeat(limit / 5), 'validation_failed', '/a'],
  '1 MiB of "': ['"'.repeat(limit), 'malformed_json'],
  '1 MiB of ]': [']'.repeat(limit), 'malformed_json'],
  '1 MiB of text': ['x'.repeat(limit), 'malformed_json'],
  'text with single quotes': [
    filled("{'user_group_id':'costly','properties':{", (i) => `'${i}':{}`, '}}'),
    'malformed_json',
  ],
  '1 MiB of spaces': [' '.repeat(limit), 'malformed_json'],
  '1 MiB of NUL': ['\0'.repeat(limit), 'malformed_json'],
  '1 MiB of escapes': [inName(`"${'\\n'.repeat(500_000)}"`), 'validation_failed', '/name'],
  '1 MiB of escapes in a key': [
    `${start}"${'\\n'.repeat(500_000)}":1}`,
    'validation_failed',
    `/${'\n'.repeat(64)}…`,
  ],
  '1 MiB of escapes without an end': [`${start}"a":"${'\\n'.repeat(500_000)}`, 'malformed_json'],
  'a number of 1 MiB': [inProperties(`{"n":${'1'.repeat(1_000_000)}}`), 'validation_failed', '/properties'],
  'an exponent of 1 MiB': [
    inProperties(`{"n":1e${'9'.repeat(1_000_000)}}`),
    'validation_failed',
    '/properties',
  ],
  'zero with an exponent of 1 MiB': [
    inProperties(`{"n":0e${'9'.repeat(1_000_000)}}`),
    'validation_failed',
    '/properties',
  ],
  'numbers that take long to compare': [
    inProperties(filled('[', () => `${5n ** 1074n}e-1074`, ']')),
    'validation_failed',
    '/properties',
  ],
  // Node.js before 20.20.2, 22.22.2 and 24.14.1 hashed digit strings to their value, which makes collisions easy to generate.
  'keys "0" to "n"': [inProperties(filled('{', (i) => `"${i}":0`, '}')), 'validation_failed', '/properties'],
  'keys of digits that are far from each other': [
    inProperties(filled('{', (i) => `"${(i + 1) * 65_536}":0`, '}')),
    'validation_failed',
    '/properties',
  ],
  'strings of digits that share their low bits': [
    inProperties(filled('{"a":[', (i) => `"${((i + 1) * 131_072) % 2 ** 32}"`, ']}')),
    'validation_failed',
    '/properties',
  ],
  'keys of one length': [
    inProperties(filled('{', (i) => `"${String(i).padStart(10, 'k')}":0`, '}')),
    'validation_failed',
    '/properties',
  ],
  'many fields that there are not': [
    filled('{', (i) => `"k${i}":0`, ',"user_group_id":1}'),
    'validation_failed',
    '',
  ],
  'an array of user groups': [filled('[', (i) => `{"user_group_id":"${i}"}`, ']'), 'validation_failed', ''],
  'many values in a field that there is not': [
    filled('{"user_group_id":"costly","other":[', () => '{}', ']}'),
    'validation_failed',
    '/other',
  ],
  'a mapping of many entries': [
    inMapping(filled('{', (i) => `"${i}":"1"`, '}')),
    'validation_failed',
    '/mapping',
  ],
  'a mapping of many faults': [
    inMapping(filled('{', (i) => `"${i}":[]`, '}')),
    'validation_failed',
    '/mapping',
  ],
  'a mapping with a key of 1 MiB': [
    inMapping(`{"${'~/'.repeat(500_000)}":0}`),
    'validation_failed',
    `/mapping/${'~0~1'.repeat(32)}…`,
  ],
  'a duplicate after many keys': [
    inProperties(filled('{', (i) => `"k${i}":0`, ',"k0":0}')),
    'validation_failed',
    '/properties',
  ],
  'a lone surrogate after many levels': [
    inProperties(`{"a":${'['.repeat(100_000)}"\\ud800"${']'.repeat(100_000)}}`),
    'validation_failed',
    '/properties',
  ],
}
const text = '{"user_group_id":"costly","name":"Name"}'
for (const [encoding, bytes] of Object.entries({
  'UTF-16, low byte first, without a mark': Buffer.from(text, 'utf16le'),
  'UTF-16, high byte first, without a mark': Buffer.from(text, 'utf16le').swap16(),
  'UTF-16, high byte first, with a mark': Buffer.from(`\ufeff${text}`, 'utf16le').swap16(),
  'UTF-32': Buffer.from(
    new Uint32Array(Array.from(text, (character) => character.codePointAt(0) as number)).buffer,
  ),
  'UTF-7': text.replace('Name', '+AOk-').replaceAll('"', '+ACI-'),
  'CESU-8': Buffer.concat([
    Buffer.from('{"user_group_id":"'),
    Buffer.from('eda080edb080', 'hex'),
    Buffer.from('"}'),
  ]),
  'an overlong quote': Buffer.concat([Buffer.from('{'), Buffer.from('c0a2', 'hex'), Buffer.from('a":1}')]),
  'an overlong NUL': Buffer.concat([Buffer.from('{"a":"'), Buffer.from('c080', 'hex'), Buffer.from('"}')]),
  gzip: Buffer.from('1f8b0800000000000003ab562a2d4e2d8a4f2fca2f2d88cf4c51b252', 'hex'),
})) {
  cases[encoding] = [bytes, 'malformed_json']
}

for (const [title, [body, code, ...paths]] of Object.entries(cases)) {
  test(`${title}: ${code}, and nothing is done`, async () => {
    for (const operation of [api.get, api.put]) {
      const response = await operation(body)
      assertFault(response, code, paths)
    }
    assertFault(await api.put({ user_group_id: 'costly' }), 'user_group_not_found')
    const response = await api.post(body)
    if (code === 'malformed_json') assertFault(response, code, paths)
    else
      assertFault(
        response,
        'validation_failed',
        response.body.error.fields.map(({ path }: { path: string }) => path),
      )
    assertSuccess(await api.get({ user_group_id: 'as before', name: 'Name' }))
  })
}
