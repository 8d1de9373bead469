import fc from 'fast-check'
import { asBytes, rarely, valueText } from '../support/json-texts.ts'

// Arbitraries for requests of `/api/user`: valid, nearly valid and broken.

/** A request template. Its place in a sequence and the current tokens are filled in later. */
export interface Draft {
  readonly method: string
  /** The caller and the form of its credentials. */
  readonly caller: number
  readonly scheme: string
  readonly path: string
  readonly override: string | undefined
  readonly idempotencyKey: string | undefined
  readonly contentType: string | undefined
  /** Sizes of the chunks, or null for a body with a length. */
  readonly chunks: readonly number[] | null
  /** Contains marks for values that are known only when the request is sent. */
  readonly body: Buffer
}

/** Mark for characters that are unique to a sequence. */
export const nonceMark = '\ue000'
export const nonceLength = 8
/** Marks for the caller's newest and oldest token, and for another caller's token. */
export const tokenMarks = { newest: '\ue001', oldest: '\ue002', foreign: '\ue003' }

const oneOf = fc.constantFrom
const some = (text: string, length: number) => nonceMark + text.repeat(length - nonceLength)

const idText = fc.oneof(
  { weight: 20, arbitrary: oneOf(`"a${nonceMark}"`, `"\\u0061${nonceMark}"`) },
  {
    weight: 4,
    arbitrary: oneOf(
      `"A${nonceMark}"`, `" a${nonceMark}"`, `"a${nonceMark} "`, `"é${nonceMark}"`, `"e\\u0301${nonceMark}"`, `"${nonceMark}\\u200b"`, `"__proto__"`, `"😀${nonceMark}"`,
      `"\\ud83d\\ude00${nonceMark}"`, `"${some('a', 255)}"`, `"${some('😀', 255)}"`, `"${nonceMark}/\\\\\\""`, `"${nonceMark}%_'; --"`,
    ), // prettier-ignore
  },
  {
    weight: 1,
    arbitrary: oneOf(
      '""', '" "', '"\u00a0\u3000"', '"\\u200b\\u3164"', `"${nonceMark}\\u0085"`, '"\\u0000"', `"${nonceMark}\\n"`, `"${nonceMark}\u007f"`, `"${some('a', 256)}"`, `"${some('😀', 256)}"`, 'null', '1', 'true', '[]', '{}', '["a"]',
    ), // prettier-ignore
  },
)

const nameText = fc.oneof(
  {
    weight: 8,
    arbitrary: oneOf(
      '"Name"',
      '"Another name"',
      '"N\\u0061me"',
      '"😀"',
      `"${'😀'.repeat(255)}"`,
      '"null"',
      '"<b>&amp;"',
      '"\\u202e"',
    ),
  },
  { weight: 1, arbitrary: idText },
)

const many = (count: number) => `{${Array.from({ length: count }, (_, i) => `"${i}":"${i}"`).join()}}`
const mappingText = fc.oneof(
  {
    weight: 8,
    arbitrary: oneOf(
      'null', '{}', '{ }', '{"40":"213"}', '{ "40" : "213" }', '{"40":"213","41":"7"}', '{"41":"7","40":"213"}', '{"4\\u0030":"213"}', '{"__proto__":"1","constructor":"2"}',
      `{"${'😀'.repeat(255)}":"${'é'.repeat(255)}"}`, '{"a":" "}', '{"\\u0000":"\\u0000"}', '{"a":"\\n\\u007f"}',
    ), // prettier-ignore
  },
  {
    weight: 1,
    arbitrary: oneOf(
      '{"":"1"}', '{"a":""}', '{"a":1}', '{"a":null}', '{"a":{"b":"c"}}', '{"a/b~c":1,"":""}', '[]', '"40"', '0', `{"${'😀'.repeat(256)}":"1"}`, `{"a":"${'x'.repeat(256)}"}`,
    ), // prettier-ignore
  },
  { weight: 1, arbitrary: oneOf(many(1000), many(1001)) },
)

const nested = (levels: number) => `${'{"a":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`
const ofBytes = (bytes: number) => `{"a":"${'x'.repeat(bytes - 8)}"}`
const propertiesText = fc.oneof(
  {
    weight: 6,
    arbitrary: oneOf(
      'null', '{}', '{"a":1,"b":[1,2]}', '{"b":[1.0,2e0],"a":1}', '{"a":1,"b":[2,1]}', '{"a":0}', '{"a":-0}', '{"a":1e2}', '{"a":100}', '{"a":"\\u0061"}', '{"a":"a"}',
      '{"__proto__":{"a":1}}', '{"__proto__":null,"constructor":{"prototype":[]}}', '{"2":1,"1":2}', '{"a":"\u2028\u007f"}', '{"a":12345678901234567000}',
    ), // prettier-ignore
  },
  { weight: 6, arbitrary: valueText.map((text) => `{"value":${text}}`) },
  { weight: 1, arbitrary: valueText },
  {
    weight: 1,
    arbitrary: oneOf(
      '{"a":"\\u0000"}',
      '{"\\u0000":1}',
      '[]',
      '"a"',
      '1',
      'true',
      nested(32),
      nested(33),
      `{"a":${'['.repeat(31)}${']'.repeat(31)}}`,
    ),
  },
  {
    weight: 1,
    arbitrary: oneOf(
      ofBytes(65_536),
      ofBytes(65_537),
      `{ "a":"${'é'.repeat(32_764)}"}`,
      `{"a":"${'é'.repeat(32_765)}"}`,
    ),
  },
)

const oddMembers = fc.array(
  fc.oneof(
    oneOf('"nmae":"x"', '"":null', '"a/b~c":1', '"__proto__":{"name":"x"}', '"constructor":1', '"token":"x"', '"name":"Twice"', `"user_group_id":"c${nonceMark}"`, `"${'k'.repeat(100)}":1`, '"grace_period_seconds":0'),
    valueText.map((text) => `"unknown":${text}`),
  ),
  { minLength: 1, maxLength: 3 },
) // prettier-ignore

/** An object with members in any order, each present with the given percentage, with or without white space. */
function objectText(
  members: Record<string, readonly [inHundred: number, value: fc.Arbitrary<string>]>,
  oddInHundred = 0,
): fc.Arbitrary<string> {
  const chosen = Object.entries(members).map(([name, [inHundred, value]]) =>
    rarely(
      inHundred,
      value.map((text) => [`"${name}":${text}`]),
      [],
    ),
  )
  return fc
    .tuple(
      fc.tuple(...chosen),
      rarely(oddInHundred, oddMembers, []),
      oneOf(',', ',', ' , ', ',\n  '),
      fc.boolean(),
    )
    .map(([parts, odd, separator, isReversed]) => {
      const all = [...parts.flat(), ...odd]
      return `{${(isReversed ? all.reverse() : all).join(separator)}}`
    })
}

const groupText = objectText(
  {
    user_group_id: [98, idText],
    name: [70, nameText],
    mapping: [40, mappingText],
    properties: [60, propertiesText],
  },
  8,
)

const { newest, oldest, foreign } = tokenMarks
const graceText = oneOf(
  '0',
  '60',
  '60',
  '60.0',
  '6e1',
  '604800',
  '604801',
  '-1',
  '-0',
  '0.5',
  '1e400',
  'null',
  '"60"',
  'true',
  '[60]',
)
const rotationText = objectText(
  {
    current_token: [
      98,
      fc.oneof(
        { weight: 10, arbitrary: fc.constant(`"${newest}"`) },
        { weight: 6, arbitrary: oneOf(`"${oldest}"`, `"${oldest}"`, `"${foreign}"`) },
        {
        weight: 1,
        arbitrary: oneOf('""', '"ugt_testing_a"', `"${newest}x"`, `" ${newest}"`, 'null', '0', `["${newest}"]`, `"${'ugt_'.repeat(20_000)}"`, '"\\u0000"', '"ugt_testing_3mJr7AoUXx2Wqd9tYv5KLpZ8nGcBhE4s0PQRfy"'),
      }, // prettier-ignore
      ),
    ],
    grace_period_seconds: [40, graceText],
  },
  8,
)

const padded = (bytes: number) =>
  Buffer.from(`{"user_group_id":"a${nonceMark}","name":"Name"}`.padEnd(bytes, ' '))
const oddBodies = fc.oneof(
  { weight: 3, arbitrary: asBytes(valueText, 20) },
  { weight: 1, arbitrary: oneOf(Buffer.alloc(0), Buffer.from(' '), Buffer.from('\0')) },
)
const largeBodies = oneOf(
  Buffer.alloc(1024 * 1024 + 1, ' '),
  Buffer.from('['.repeat(1000).padEnd(1024 * 1024)),
  padded(1024 * 1024 - (nonceLength - 1)),
  padded(1024 * 1024 - (nonceLength - 1) + 1),
)

/** Valid requests for one user group by the first and the fourth caller. */
export const draftsOfOne: fc.Arbitrary<Draft> = fc
  .tuple(
    oneOf('GET', 'GET', 'PUT', 'POST'),
    oneOf(0, 0, 0, 3),
    rarely(60, oneOf(`${nonceMark}k`, `${nonceMark}l`), undefined),
  )
  .chain(([method, caller, idempotencyKey]) => {
    const text =
      method === 'POST'
        ? objectText({
            current_token: [100, oneOf(`"${newest}"`, `"${newest}"`, `"${oldest}"`)],
            grace_period_seconds: [20, oneOf('0', '60')],
          })
        : objectText({
            user_group_id: [100, oneOf(`"a${nonceMark}"`)],
            name: [60, oneOf('"One"', '"Two"', '"Three"')],
            mapping: [40, oneOf('null', '{"1":"a"}', '{"1":"b"}')],
            properties: [40, oneOf('null', '{"a":1}', '{"a":1.0}', '{"a":2}')],
          })
    return text.map((body) => ({
      ...{ method, caller, idempotencyKey, scheme: 'Token', path: '/api/user', override: undefined },
      ...{ contentType: 'application/json', chunks: null, body: Buffer.from(body) },
    }))
  })
  .map(shown)

/** Creates the user group of most other requests. */
export const firstDraft: Draft = {
  ...{ method: 'GET', caller: 0, scheme: 'Token', path: '/api/user', override: undefined },
  ...{ idempotencyKey: undefined, contentType: 'application/json', chunks: null },
  body: Buffer.from(`{"user_group_id":"a${nonceMark}","name":"Name"}`),
}

/** Requests of the given number of callers. */
export function drafts(callers: number): fc.Arbitrary<Draft> {
  return anyDrafts(callers).map(shown)
}

/** The same with a readable text for failures. */
function shown(draft: Draft): Draft {
  const { body, ...head } = draft
  const text = () => `${JSON.stringify(head)} ${JSON.stringify(body.toString().slice(0, 1000))}`
  return Object.assign({ ...draft }, { [fc.toStringMethod]: text })
}

function anyDrafts(callers: number): fc.Arbitrary<Draft> {
  const rotation = asBytes(rotationText, 6)
  const group = asBytes(groupText, 6)
  const bodyFor = (isRotation: boolean) =>
    fc.oneof(
      { weight: 400, arbitrary: isRotation ? rotation : group },
      { weight: 12, arbitrary: isRotation ? group : rotation },
      { weight: 12, arbitrary: oddBodies },
      { weight: 1, arbitrary: largeBodies },
    )
  const operation = fc.oneof(
    { weight: 10, arbitrary: fc.constant(['GET', undefined] as const) },
    { weight: 5, arbitrary: fc.constant(['PUT', undefined] as const) },
    { weight: 10, arbitrary: fc.constant(['POST', undefined] as const) },
    { weight: 3, arbitrary: oneOf(['POST', 'GET'] as const, ['POST', 'PUT'] as const) },
    {
      weight: 1,
      arbitrary: oneOf(['POST', 'get'] as const, ['POST', 'DELETE'] as const, ['POST', ''] as const, ['PUT', 'GET'] as const, ['GET', 'x'] as const, ['DELETE', undefined] as const, ['PATCH', 'GET'] as const, ['OPTIONS', undefined] as const),
    }, // prettier-ignore
  )
  return operation.chain(([method, override]) =>
    fc.record({
      method: fc.constant(method),
      override: fc.constant(override),
      // The first callers have all scopes.
      caller: fc.oneof({ weight: 6, arbitrary: fc.constant(0) }, { weight: 2, arbitrary: fc.nat({ max: 3 }) }, { weight: 1, arbitrary: fc.nat({ max: callers - 1 }) }),
      scheme: rarely(6, oneOf('token', 'TOKEN', 'Token  ', 'Bearer', 'Basic', ''), 'Token'),
      path: rarely(6, oneOf('/api/user/', '/api/user?user_group_id=x'), '/api/user'),
      idempotencyKey: rarely(30, fc.oneof({ weight: 6, arbitrary: oneOf(`${nonceMark}k`, `${nonceMark}K`) }, { weight: 1, arbitrary: oneOf('', 'a b', 'k'.repeat(256), `${nonceMark}${'k'.repeat(247)}`) }), undefined),
      contentType: rarely(8, oneOf('application/json; charset=utf-8', 'Application/JSON;charset="UTF-8"', 'application/json; a=b', undefined, 'text/plain', 'application/json; charset=latin1', 'application/jsonx', ''), 'application/json'),
      chunks: rarely(25, fc.array(fc.integer({ min: 1, max: 5000 }), { maxLength: 4 }), null),
      body: bodyFor(method === 'POST' && !['GET', 'PUT'].includes(override ?? '')),
    }),
  ) // prettier-ignore
}
