import fc from 'fast-check'

const hostile = [
  "'", "''", '"', '`', '\\', "\\'", "' OR '1'='1", "'; DROP TABLE sales; --", '--', '/*', '*/', '#', '//', ';', '$1', '?', '@p1', ':a', '$$',
  '$a$', '%', '_', '{{', '}}', '{{ user_group.name }}', '[', ']', '(', ')', ',', 'NULL', '\n', '\r', '\t', '\u00a0', '\u2028', '\u02bc', '＇',
  "E'", "N'", "U&'", '🙂', '\u0301', '\ufeff', '\u0001', "') UNION SELECT * FROM sales --", '1) OR (1=1',
] // prettier-ignore

/** Strings, many of them made of characters with a meaning in SQL. Without U+0000, which PostgreSQL cannot store. */
export const hostileText: fc.Arbitrary<string> = fc
  .oneof(
    fc.constantFrom(...hostile),
    fc.array(fc.oneof(fc.constantFrom(...hostile), fc.string({ maxLength: 5 })), { maxLength: 8 }).map(join),
    fc.string({ unit: 'binary', maxLength: 20 }),
    fc.constantFrom(...hostile).map((text) => text.repeat(2000)),
  )
  .map((text) => text.replaceAll('\0', ''))

export const scalar: fc.Arbitrary<string | number | boolean> = fc.oneof(
  { weight: 3, arbitrary: hostileText },
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number + 0),
  fc.integer(),
  fc.boolean(),
)

/** A piece of a statement after which code continues: an expression or a comment. */
export interface Piece {
  readonly sql: string
  /** Value of the expression, if known. */
  readonly value?: string
  /** Range of the enclosed part, in which no variable may be. */
  readonly enclosed?: readonly [from: number, to: number]
}

function enclose(open: string, text: string, close: string, value?: string): Piece {
  const from = open.length
  return {
    sql: open + text + close,
    enclosed: [from, from + text.length],
    ...(value !== undefined && { value }),
  }
}

/** Contents of a literal, an identifier or a comment: mostly marks that open or close another. */
const content = fc
  .array(
    fc.constantFrom(
      "'", '"', '`', '\\', '$', '$$', '$a$', '$b$', 'a', 'b', '--', '/*', '*/', '*', '/', '-', '#', '[', ']', '\n', ' ', ';', '?', ':', '@', 'E',
      "E'", '{', '}', '(', ')', ',', 'é', '1',
    ), // prettier-ignore
    { maxLength: 10 },
  )
  .map((parts) => parts.join('').replace(/\{(?=\{)/g, '{ '))

const lineComment = content.map((text) => enclose('-- ', text.replaceAll('\n', ' '), '\n'))
const literal = content.map((text) => enclose("'", double(text, "'"), "'", text))
const identifier = content.map((text) => enclose(`'x' AS "i`, double(text, '"'), '"'))
const code = fc.constantFrom<Piece[]>(
  { sql: "'a' || 'b'", value: 'ab' },
  { sql: "'a'||/**/'b'", value: 'ab' },
  { sql: "replace('a', 'a', 'b')", value: 'b' },
)

function double(text: string, mark: string): string {
  return text.replaceAll(mark, mark + mark)
}

function join(parts: readonly string[]): string {
  return parts.join('')
}

/** By dialect: expressions, and comments that may be between two expressions. */
export const grammar = {
  postgresql: {
    expression: fc.oneof(
      literal,
      code,
      content.map((text) => enclose("E'", double(text, '\\').replaceAll("'", "\\'"), "'", text)),
      content.map((text) => enclose("e'", double(double(text, '\\'), "'"), "'", text)),
      content.map((text) => enclose("U&'", double(double(text, '\\'), "'"), "'", text)),
      fc
        .tuple(content, fc.constantFrom('$$', '$a$', '$b$', '$é1$'))
        .filter(([text, tag]) => `${text}${tag}`.indexOf(tag) === text.length)
        .map(([text, tag]) => enclose(tag, text, tag, text)),
      fc.constantFrom<Piece[]>(
        { sql: "'a'\n'b'", value: 'ab' },
        { sql: "'a' -- '\n '\\'", value: 'a\\' },
        { sql: "text'\\'", value: '\\' },
        { sql: "'1'::text", value: '1' },
        { sql: `'{"a":{"b":"c"}}'::jsonb #>> '{a,b}'`, value: 'c' },
        { sql: "(ARRAY['a','b'])[1]", value: 'a' },
      ),
    ),
    comment: fc.oneof(
      lineComment,
      content.map((text) => enclose('/*', text.replace(/[*/]/g, '.'), '*/')),
      content.map((text) => enclose('/*', `${text.replace(/[*/]/g, '.')}/*'*/$a$`, '*/')),
    ),
    identifier,
  },
  sqlite: {
    expression: fc.oneof(literal, code, fc.constantFrom<Piece[]>({ sql: "x'41'" }, { sql: "'1' ->> '$'" })),
    comment: fc.oneof(
      lineComment,
      content.map((text) => enclose('/*', text.replaceAll('*/', '* /').replace(/^\/|\*$/g, ' '), '*/')),
    ),
    identifier: fc.oneof(
      identifier,
      content.map((text) => enclose("'x' AS `", double(text, '`'), '`')),
      content.map((text) => enclose("'x' AS [i", text.replaceAll(']', ' '), ']')),
    ),
  },
  mariadb: {
    expression: fc.oneof(
      content.map((text) => withoutQuestions(enclose("'", double(double(text, '\\'), "'"), "'", text))),
      content.map((text) => withoutQuestions(enclose('"', double(double(text, '\\'), '"'), '"', text))),
      content.map((text) =>
        withoutQuestions(enclose("'", double(text, '\\').replaceAll("'", "\\'"), "'", text)),
      ),
      fc.constantFrom<Piece[]>(
        { sql: "'a' 'b'", value: 'ab' },
        { sql: "concat('a', 'b')", value: 'ab' },
        { sql: "replace('a', 'a', 'b')", value: 'b' },
        { sql: 'concat(5--1)', value: '6' },
      ),
    ),
    comment: fc.oneof(
      lineComment.map(withoutQuestions),
      content.map((text) => withoutQuestions(enclose('#', text.replaceAll('\n', ' '), '\n'))),
      content.map((text) =>
        withoutQuestions(enclose('/* ', text.replaceAll('*/', '* /').replace(/\*$/, ' '), '*/')),
      ),
    ),
    identifier: content.map((text) =>
      withoutQuestions(enclose("'x' AS `i", double(text, '`').trimEnd(), '`')),
    ),
  },
  duckdb: {
    expression: fc.oneof(
      literal,
      code,
      content.map((text) => enclose("E'", double(text, '\\').replaceAll("'", "\\'"), "'", text)),
      content.map((text) => enclose("e'", double(double(text, '\\'), "'"), "'", text)),
      fc
        .tuple(content, fc.constantFrom('$$', '$a$', '$b$'))
        .filter(([text, tag]) => `${text}${tag}`.indexOf(tag) === text.length)
        .map(([text, tag]) => enclose(tag, text, tag, text)),
      fc.constantFrom<Piece[]>(
        { sql: "'a'\n'b'", value: 'ab' },
        { sql: "'1'::text", value: '1' },
        { sql: "(['a','b'])[1]", value: 'a' },
        { sql: "['a', 'b'][2]", value: 'b' },
      ),
    ),
    comment: fc.oneof(
      lineComment,
      content.map((text) => enclose('/*', text.replace(/[*/]/g, '.'), '*/')),
      content.map((text) => enclose('/*', `${text.replace(/[*/]/g, '.')}/*'*/$a$`, '*/')),
    ),
    identifier,
  },
} as const

/** In the dialects of MySQL, a question mark is refused everywhere. */
function withoutQuestions({ sql, value, enclosed }: Piece): Piece {
  return {
    sql: sql.replaceAll('?', '.'),
    ...(value !== undefined && { value: value.replaceAll('?', '.') }),
    ...(enclosed && { enclosed }),
  }
}
