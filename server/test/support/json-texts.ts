import fc from 'fast-check'

// Arbitraries for valid and nearly valid JSON texts, as bytes.

const oneOf = fc.constantFrom

const space = fc.oneof(
  { weight: 12, arbitrary: fc.constant('') },
  { weight: 1, arbitrary: oneOf(' ', '\n', '\r\n\t', '   ') },
)

const digits = fc.string({ unit: oneOf(...Array.from('0123456789')), minLength: 1, maxLength: 22 })
const whole = fc.oneof(
  fc.constant('0'),
  digits.map((text) => text.replace(/^0+(?=.)/, '')),
)

/** Numbers within and beyond the precision of a double, in every notation. */
export const numberText = fc.oneof(
  fc.integer().map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((double) => JSON.stringify(double)),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((double) => double.toExponential(17)),
  fc.bigInt({ min: 2n ** 52n, max: 2n ** 70n }).map(String),
  fc
    .tuple(fc.nat({ max: 1023 }), fc.integer({ min: -1, max: 1 }))
    .map(([power, off]) => String(2n ** BigInt(power) + BigInt(off))),
  fc
    .tuple(
      oneOf('', '-'),
      whole,
      fc.option(digits),
      fc.option(fc.tuple(oneOf('e', 'E'), oneOf('', '+', '-'), fc.nat({ max: 400 }))),
    )
    .map(
      ([sign, before, after, power]) =>
        `${sign}${before}${after === null ? '' : `.${after}`}${power?.join('') ?? ''}`,
    ),
  oneOf(
    '-0', '0.0', '-0e99', '1.0', '1e400', '-1e400', '1e-400', '5e-324', '3e-324', '1.7976931348623157e308', '1.7976931348623159e308', '4.9406564584124654e-324',
    '9007199254740993', '9007199254740992', '0.1000000000000000055511151231257827021181583404541015625', '12345678901234567890', '0.12345678901234567890', '123e45',
    '0e99999999999999999999', '1e99999999999999999999', '1e-99999999999999999999', `1${'0'.repeat(400)}`, `0.${'0'.repeat(400)}1`,
  ), // prettier-ignore
)

const character = fc.oneof(
  { weight: 6, arbitrary: oneOf(...Array.from('abc xyz019_-.,:{}[]')) },
  { weight: 2, arbitrary: fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }).map(written) },
  {
    weight: 1,
    arbitrary: oneOf(
      '\\"',
      '\\\\',
      '\\/',
      '\\b',
      '\\n',
      '\\u0041',
      '\\u00e9',
      'é',
      '\\ud83d\\ude00',
      '\\uD83D\\uDE00',
      '😀',
      '\u2028',
      '\ufeff',
      '\u007f',
      '\\u001f',
    ),
  },
)
const odd = oneOf('\\u0000', '\\ud800', '\\udfff', '\\ude00\\ud83d', '\\ud83dx', '\\ud83d\\u0041')

function written(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

/** Content of a string, without its quotes. */
const inQuotes = fc
  .tuple(
    fc.array(character, { maxLength: 8 }),
    fc.oneof({ weight: 40, arbitrary: fc.constant('') }, { weight: 1, arbitrary: odd }),
  )
  .map(([parts, last]) => parts.join('') + last)

const stringText = inQuotes.map((text) => `"${text}"`)

const keyText = fc.oneof(
  { weight: 2, arbitrary: stringText },
  { weight: 3, arbitrary: oneOf('"a"', '"b"', '"c"', '"\\u0061"', '""', '"1"', '"01"') },
  {
    weight: 1,
    arbitrary: oneOf('"__proto__"', '"constructor"', '"toString"', '"length"', '"4294967295"', '"a/b~c"'),
  },
)

/** Any value. Some have a duplicate key, a lone surrogate or a number beyond a double's precision. */
export const { value: valueText } = fc.letrec<{ value: string; leaf: string; array: string; object: string }>(
  (tie) => ({
    leaf: fc.oneof(
      stringText,
      fc.oneof(fc.integer().map(String), numberText),
      oneOf('null', 'true', 'false', '[]', '{}'),
    ),
    array: fc
      .array(fc.tuple(space, tie('value'), space), { maxLength: 5 })
      .map((items) => `[${items.map((item) => item.join('')).join()}]`),
    object: fc
      .array(fc.tuple(space, keyText, space, fc.constant(':'), space, tie('value'), space), { maxLength: 5 })
      .map((members) => `{${members.map((member) => member.join('')).join()}}`),
    value: fc.oneof(
      { maxDepth: 5, withCrossShrink: true },
      { weight: 2, arbitrary: tie('leaf') },
      { weight: 1, arbitrary: tie('array') },
      { weight: 2, arbitrary: tie('object') },
    ),
  }),
)

const slip = fc.tuple(
  fc.nat(),
  fc.nat({ max: 3 }),
  oneOf(
    '', '"', '\\', '\\u', '\\u12', '\\ud800', '{', '}', '[', ']', ',', ':', ',,', '::', '0', '-', '+', '.', 'e', '1e', '00', '0x1', 'NaN', 'Infinity', 'null', 'nul', 'True',
    "'", '/', '//', '/**/', '\u0000', '\u0001', '\n', '\t', '\u00a0', '\u2028', '\ufeff', ' ', 'é', '😀', '"a":1,"a":1', '"__proto__":', '\b', '[1,]', '{"a"}', '{a:1}',
  ),
) // prettier-ignore

type Slip = typeof slip extends fc.Arbitrary<infer T> ? T : never

function withSlips(text: string, slips: readonly Slip[]): string {
  return slips.reduce((result, [at, deleted, inserted]) => {
    const place = at % (result.length + 1)
    return result.slice(0, place) + inserted + result.slice(place + deleted)
  }, text)
}

/** Bytes that are not valid UTF-8. */
const brokenBytes = oneOf('ff', 'c0af', 'eda080', 'f4908080', 'c3', 'f09f98', '80', 'efbbbf', 'fe').map(
  (hex) => Buffer.from(hex, 'hex'),
)

const broken = fc.tuple(fc.nat(), brokenBytes)

/**
 * Texts in UTF-8. About `slipsInHundred` percent have up to three errors, and a few contain bytes that are not valid UTF-8.
 */
export function asBytes(text: fc.Arbitrary<string>, slipsInHundred: number): fc.Arbitrary<Buffer> {
  const slips = rarely(slipsInHundred, fc.array(slip, { minLength: 1, maxLength: 3 }), [])
  return fc.tuple(text, slips, rarely(3, broken, null)).map(([written, created, insertion]) => {
    const bytes = Buffer.from(withSlips(written, created))
    if (insertion === null) return bytes
    const [at, inserted] = insertion
    const place = at % (bytes.length + 1)
    return Buffer.concat([bytes.subarray(0, place), inserted, bytes.subarray(place)])
  })
}

/** The value, or with the given percentage one of the others. */
export function rarely<T, U>(inHundred: number, those: fc.Arbitrary<T>, value: U): fc.Arbitrary<T | U> {
  return fc.oneof<fc.WeightedArbitrary<T | U>[]>(
    { weight: 100 - inHundred, arbitrary: fc.constant(value) },
    { weight: inHundred, arbitrary: those },
  )
}
