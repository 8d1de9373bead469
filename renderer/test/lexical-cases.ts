import type { SqlDialect, TemplateErrorCode } from '../src/index.ts'

/** Represents a variable in the templates below. */
export const mark = '¤'
export const variable = '{{ passed.name }}'

export interface Rules {
  /** Each is put before `, ¤` in a statement, and code continues after it. */
  readonly code: readonly string[]
  /** Templates with a variable at ¤, by the reason for which they are refused. */
  readonly refused: Partial<Record<TemplateErrorCode, readonly string[]>>
}

export const everywhere: Rules = {
  code: [
    "'a'", "''", "'--'", "'/*'", "'\"'", "'`'", "'['", "'$$'", "'#'", "'//'", "'} }}'", "'{ {'", "'🙂'", "'a' 'b'", "'a' \n 'b'",
    'a -- b\n', "a -- it's\n", 'a -- "b\r\n', '-- /*\n', '--\n', '/* b */ a', "/* it's */ a", '/* -- */ a', '/**/ a', '/***/ a',
    '/* * / */ a', '/*/ */ a', 'a - -1', 'a / b', 'a * b', 'a \r\n', '"a"', '"a--"', '"a\'b"', '"/*"', 'x', 'x1', 'é', 'count(*)', '(1)',
    "x''", "note ''", "note''", "DATE '2024-01-01'", "date'2024-01-01'", 'a.b', '1.5', '.5', '1e5', '1e-5', '0x1F', '{ }',
  ], // prettier-ignore
  refused: {
    variable_in_literal: [
      "'¤'",
      "'a ¤ b'",
      "'%¤%'",
      "'''¤'''",
      "'a''¤'",
      "'--¤'",
      "'/*¤'",
      "N'¤'",
      "x'¤'",
      "'{¤}'",
    ],
    variable_in_comment: [
      '-- ¤', '-- ¤\n', "-- it's ¤\n", '/* ¤ */', '/*¤*/', '/* -- ¤ */', '/*\n¤*/', "/* ' */ /* ¤ ' */", '/*/¤*/', '/* \' */ -- ¤',
      '--\n--¤',
    ], // prettier-ignore
    malformed_template: [
      "'", "''' ", '"', '¤ /* \'*/ \'', "'a' ' ¤", "1'a'", "1e'a'", ".5'a'", '1"a"', '1$', '1a$b$',
      '-- a \r ¤', '-- a \r ¤\n', '-- a \u2028 ¤', '-- \v ¤', '-- \f ¤\n', '-- \u0085 ¤',
    ], // prettier-ignore
    invalid_optional_clause: [
      '[[', '[[¤', '[[¤]', '[[¤]]', '[[a]]', '[[[a], [b]]]', '[[ ) ]]', '[[ ( ]]', '[[ ; ]]', '[[ a [[ b ]] ]]', '[[ ]',
    ], // prettier-ignore
  },
}

const rulesByDialect: Record<Exclude<SqlDialect, 'mariadb'>, Rules> = {
  postgresql: {
    code: [
      "'\\'", "'a\\\\'", "E'\\''", "e'\\''", "E'\\\\'", "E''''", "E'a''\\''", "E'\\'--'", "E'\\\\\\''", "note'\\'", "xe'\\'", "_e'\\'",
      "ée'\\'", "e1'\\'", "U&'\\'", "u&'\\0061'", "U&'d!0061' UESCAPE '!'", 'U&"a"', "B'1'", "x'1F'", "N'\\'", 't.e', "E '\\'", "'\\' 'a'",
      "'a'\n'\\'", "'a'\n'it''s'", '$$a$$', '$$$$', "$$'$$", '$$--$$', '$$/*$$', '$a$ $$ $b$ $a$', '$a$$a$', '$a$ $a $a$', '$_1$ $1$ $_1$',
      '$é$ $e$ $é$', '$a$ x$a$', '$a$ $aa$a$', 'a$b$', 'a$$', 'a$b$c$$', 'é$b$', 'a$1', '"a"', '"a""b"', '"a\\"', "\"it's\"", '"$$"',
      '/* /* */ */ a', "/* /* ' */ ' */ a", '/*/* */*/ a', '/* -- */ a', '/**/*/**/2', 'a ? b', 'a ?| b', 'a @> b', 'a #> b', 'a #>> b',
      'a::text', 'a -> b', 'f(a := 1)', 'a[1:2]', 'a ` b', 'a @- b', "a->>'b'", 'a*/**/b', '1--a\n', "'[' [1]", '#',
      "'a' /* b */ , '\\'", "E'a' , '\\'", "$a$ E' $a$",
    ],
    refused: {
      variable_in_literal: [
        "E'\\'¤'", "e'\\' ¤ '", "E'a''¤'", "E'\\\\''¤'", "a.e'\\'¤'", "U&'¤'", "'\\''¤'", "note'¤'", '$$¤$$', '$a$¤$a$', '$a$ $$ ¤ $$ $a$',
        "$$ ' $$ '¤'", '$é$ ¤ $é$', "'$$' '¤' '$$'", "'a'\n'¤'", "U&'a' '¤'", '$a$ a$a ¤ $a$', '$A$ $a$ ¤ $A$',
      ],
      variable_in_identifier: ['"¤"', '"a""¤"', '"\\"\n"¤"', '"\'¤\'"', 'U&"¤"', 'a."¤"'],
      variable_in_comment: ['-- \\\n -- ¤', '/* /* */ ¤ */', '/* /* /* */ */ ¤ */', '/*/**/¤*/', '1--¤', "-- ' \r\n --¤", '$a$ $a$ --¤', '*--¤', '+-- ¤'],
      malformed_template: [
        "E'\\'", "E'a'\n'\\'", "E'a' -- b\n 'c'", "E'a'\n'¤'", '$a$', '$$', '$a$ $A$', "$$ ' $", '/* /* */', '/*', "'a'\nE'b'", '1$$a$$',
        '"a',
      ],
      placeholder_in_template: ['$1', '$ 1', '$1a', '($2)', '$', '$a', '$a b$', '$-$', "E'' $1"],
    },
  },
  mysql: {
    code: [
      "'\\''", "'\\\\'", "'a''\\''", '"\\""', '"a""b"', "\"it's\"", '`a`', '`a``b`', '`\\`', "`'`", '`--`', "N'\\''", "_utf8mb4'\\''",
      "note'\\''", '5--1', '5--a', '5--(1)', '5 --1', '5---1', '5-- 1\n', '5--\t1\n', "5--'--'", "# it's\n", '#\n', '/* /* */ a', '/*/ */ a',
      "/*+ MAX_EXECUTION_TIME(1000) */ a", 'a := 1', '@a', '@@a', "a->'$.b'", 'a$b$', 'a$$', ':a', 'a.b', "x'4D'", '\\N',
    ],
    refused: {
      variable_in_literal: ["'\\'¤'", '"¤"', '"\\"¤"', "'\"' \"¤\"", "\"'\" '¤'", "5--'¤'", '"a""¤"', "_utf8'¤'", "'\\\\' '\\'¤'"],
      variable_in_identifier: ['`¤`', '`a``¤`', '`\\` `¤`', "`'¤'`", 'a.`¤`'],
      variable_in_comment: ['# ¤', '#¤\n', "5# ' ¤", '-- ¤', '--\t¤', '--¤', '5--¤', '--\x01¤', '/* /* ¤ */', '/*+ ¤ */', '/*+ a */ # ¤'],
      malformed_template: [
        "'\\'", '"\\"', '`', '/*! SELECT */ 1', '/*!50000 a */', "/*! ' */", '/*M! a */', '/*m! a */', '/*!*/', '--\u00a0¤', '--\u00a0\n',
        '--é', "/*+ QB_NAME(`a*/`) */", "/*+ ' */", '# a \r ¤', '/* a',
      ],
      placeholder_in_template: ['?', '??', '(?)', '?1', "'?'", '"?"', '`?`', '# ?\n', '-- ?\n', '/* ? */', "'a?'", "''?"],
    },
  },
  sqlite: {
    code: [
      "'\\'", "'a''b'", '"a""b"', '`a``b`', '[a]', "[it's]", '["]', '[--]', '[/*]', '[a[b]', '[]', '"[" a', '[a] , "]"', "x'4D'", 'a$b', 'a$1',
      "a ->> '$.b'", '/* /* */ a', 'a || b', 'é$a', "`'`", '"`"', '[`]', '"\\"',
    ],
    refused: {
      variable_in_literal: ["'\\''¤'", "'[' '¤'", "[']'¤'", "`'` '¤'"],
      variable_in_identifier: ['"¤"', '`¤`', '[¤]', "[a'¤']", 'a[¤]', 'a["¤"]', '[a]\n[¤]', '`"¤"`'],
      variable_in_comment: ['/* /* ¤ */', '/* ¤', '-- a\n/* ¤', "--'\n--¤"],
      malformed_template: ['[', '`', '"', '[a', "[a]]'", '(1)\ufeffOR (1)', 'a\u00a0b'],
      placeholder_in_template: ['?', '?1', ':a', '@a', '$a', '#a', '$', ':', '@', '#', '?:', '$a::b(c)', 'a:b', 'a@b', '@@a', '$1'],
    },
  },
  sqlserver: {
    code: [
      "'\\'", "N'a'", "N'it''s'", "n'\\'", '"a""b"', '[a]', '[a]]b]', "[it's]", '["]', '[a]] , [b]', '[--]', '@@version', '@a', '@p',
      '@pa', '@p1a', '@p1_', '@p1@', '@@p1', 'a@p1', '#a', '##a', 'a#', '$5', '$action', 'a$b$', '/* /* */ */ a', "/* /* ' */ ' */ a",
      '@a = 1', 'dbo.f', '?', 'a::b', '#@p1', "'@p1'", '[@p1]',
    ],
    refused: {
      variable_in_literal: ["N'¤'", "'\\''¤'", "[']'¤'", "'[' '¤'", "n'a''¤'", '[a]]] \'¤\''],
      variable_in_identifier: ['[¤]', '[a]]¤]', '"¤"', "[a'¤']", 'a.[¤]', '[a]\n[¤]'],
      variable_in_comment: ['/* /* */ ¤ */', '--¤', '/*/**/¤*/'],
      malformed_template: ['[', '[a]]', '/* /* */', '"'],
      placeholder_in_template: ['@p1', '@P1', '@p99', '(@p1)', '=@p1', '@p1,'],
    },
  },
  bigquery: {
    code: [
      "'\\''", '"\\""', "'''a'b'''", "'''a''b'''", '"""a"b"""', "'''\\''''", '"""\\""""', "''''a'''", "'''a\n'''", "r'\\''", "r'a'", 'R"a"',
      'b"a"', "rb'a'", "Br'\\''", "r'''\\''''", 'r"\\\\"', '`a`', '`a-b.c.d`', '`\\``', "`'`", '# a\n', "# it's\n", '#\n', '/* /* */ a',
      '@@a', "''", "'' ", '""', "'a' \"'\"", '[1, 2]', 'a[OFFSET(0)]', "'''\"\"\"'''", "''''''", '"""\'\'\'"""', "'\\\\'", '@@a.b',
    ],
    refused: {
      variable_in_literal: [
        "'\\'¤'", '"¤"', '"\\"¤"', "'''¤'''", "'''a'¤'''", "'''''¤'''", '"""¤"""', '"""a"¤"""', '"""\\"""¤"""', "r'\\'¤'", 'r"\\"¤"', "r'¤'", "b'¤'",
        "rb'''¤'''", 'R"""¤"""', "'a''''¤'''",
      ],
      variable_in_identifier: ['`¤`', '`\\`¤`', "`'¤'`", 'a.`¤`'],
      variable_in_comment: ['# ¤', '#¤\n', "5#' ¤", '/* /* ¤ */'],
      malformed_template: ['r"\\"', "r'\\'", "'''a''", '"""a""', "'''a\\'''", '`a', '`\\`', "'''''", '1r"\\"'],
      placeholder_in_template: ['?', '@a', '@p1', '(@a)', '@`a`', '@{a=1}'],
    },
  },
  snowflake: {
    code: [
      "'\\''", "'a''\\''", "'\\\\'", '"a""b"', '"a\\"', "\"it's\"", '$$a$$', "$$it's$$", '$$--$$', '$$\\$$', '$$$$', '$$ $ $$', '// a\n', "// it's\n",
      '//\n', '/* a */ b', 'a:b.c', "a['b']", 'a::int', '$1', '$a', 'a$b', 'a:"b"', "x'4D'", '{ \'a\': 1 }', '/* // */ a', "'//'", '$$//$$',
    ],
    refused: {
      variable_in_literal: ["'\\'¤'", "'a''¤'", '$$¤$$', "$$ ' ¤ $$", "'$$' '¤'", '$$ \\$$ , \'¤\'', '$$ $ ¤ $$'],
      variable_in_identifier: ['"¤"', '"a""¤"', '"\\" "¤"', 'a:"¤"'],
      variable_in_comment: ['// ¤', '//¤\n', "a //' ¤", '/* // ¤ */', '--¤'],
      malformed_template: ['$$', "'\\'", 'a$$', 'a$$ b $$', '$a$$', '1$$a$$', '$a$ $$ $a$', '/* /* */', '/* /* */ */', '`a`', '// a \r ¤', '$$a$'],
      placeholder_in_template: ['?', ':1', '(?)', 'a = :1', '?1'],
    },
  },
  duckdb: {
    code: [
      "'\\'", "'a\\\\'", "E'\\''", "e'\\\\'", "E''''", "note'\\'", "x'1F'", '$$a$$', "$$'$$", '$$/*$$', '$a$ $$ $b$ $a$', 'a$b$', '"a""b"', '"\\"',
      '/* /* */ */ a', "/* /* ' */ ' */ a", '/* -- */ a', 'a::int', "a->>'$.b'", 'a[1:2]', '{ \'a\': 1 }', '#1', 'f(a := 1)', '@a', 'a // b', "'a'\n'\\'",
    ],
    refused: {
      variable_in_literal: ["E'\\'¤'", "'\\''¤'", '$$¤$$', '$a$¤$a$', "'a'\n'¤'"],
      variable_in_identifier: ['"¤"', '"\\"\n"¤"', 'a."¤"'],
      variable_in_comment: ['/* /* */ ¤ */', '1--¤'],
      malformed_template: ["E'\\'", '$a$', '$$', '/* /* */', 'a\u00a0b', "E\u00a0'a'", '\ufeff1', 'a\u2003', "'a'\nE'b'"],
      placeholder_in_template: ['$1', '$a', '$é$', '?', 'a ? b', '$'],
    },
  },
  redshift: {
    code: ["'a''b'", "'\\\\'", "'\\\\d'", "'a\\n'", '"a""b"', '"\\"', '$$a$$', '$a$ x $a$', 'a$b$', 'a::int', '/* a */ b', '#t', "'a' 'b'"],
    refused: {
      variable_in_literal: ["'¤'", "'\\\\' '¤'", '$$¤$$', "'a''¤'"],
      variable_in_identifier: ['"¤"', '"\\" "¤"'],
      variable_in_comment: ['/* ¤ */', '1--¤'],
      malformed_template: ["'\\'", "'\\''", "'a\\'b'", "'\\\\\\''", '/* /* */', '/* /* */ */', 'a\u00a0', '$a$'],
      placeholder_in_template: ['$1', '?', '$', '$a'],
    },
  },
  databricks: {
    code: [
      "'\\''", "'\\\\'", "'a''b'", '"a"', "\"it's\"", "r'a'", "R'a\\n'", 'r"a"', '`a``b`', "`'`", '`\\`', '/* /* */ */ a', "/* /* ' */ ' */ a", '-- a\n',
      "note'\\''", "x'1F'", "a['b']", 'a::int', "'a' 'b'", '{ }',
    ],
    refused: {
      variable_in_literal: ["'\\'¤'", '"¤"', "r'¤'", 'R"¤"', "\"'\" '¤'"],
      variable_in_identifier: ['`¤`', '`\\` `¤`'],
      variable_in_comment: ['/* /* */ ¤ */', '--¤', '5--¤'],
      malformed_template: ["'\\'", "r'\\'", "R'a\\''", 'r"\\"', '"\\"', '"a\\"b"', '-- a\\\n', '--\\\n', '/* /* */', 'a\u00a0', '`', '-- \\', "/*+ f('*/') */"],
      placeholder_in_template: ['?', ':a', ':p1'],
    },
  },
  clickhouse: {
    code: [
      "'\\''", "'\\\\'", "'a''b'", '"a\\""', '"a""b"', '`a\\``', '`a``b`', '# a\n', "#! it's\n", "-- it's\n", "// it's\n", '/* a */ b', '$$a$$', "$$'$$", '$a$ b $a$',
      "{'a': 1}", 'a.1', 'a::Int8', '[1, 2]', 'f(x -> x + 1)', "x'1F'",
    ],
    refused: {
      variable_in_literal: ["'\\'¤'", '$$¤$$', '$a$ ¤ $a$', "$$ ' $$ , '¤'"],
      variable_in_identifier: ['"¤"', '"\\"¤"', '`¤`', '`\\`¤`'],
      variable_in_comment: ['# ¤', '#¤\n', '--¤', '/* ¤ */', '// ¤', "//' ¤\n"],
      malformed_template: [
        "'\\'", '"\\"', '/* /* */', '/* /* */ */', 'a$b', 'a$b$', '\u2018a\u2019', '\u201ca\u201d', '1 \u2212 1', 'a\u00a0b', "\u2018 ' ¤ '\u2019", '$$',
      ],
      placeholder_in_template: ['?', '{a:String}', '{ p1 : String }', '{a :Int8}', '$', '$1'],
    },
  },
  trino: {
    code: ["'\\'", "'a''b'", '"a""b"', "\"it's\"", "U&'a'", "X'1F'", '/* a */ b', '-- a\n', 'a -> b', "JSON '1'", 'a[1]'],
    refused: {
      variable_in_literal: ["'\\''¤'", "U&'¤'"],
      variable_in_identifier: ['"¤"', '"\\" "¤"'],
      variable_in_comment: ['--¤', '/* ¤ */'],
      malformed_template: ['`a`', '/* /* */', '/* /* */ */', 'a\u00a0', "'", '"'],
      placeholder_in_template: ['?', '(?)'],
    },
  },
  oracle: {
    code: ["'\\'", "'a''b'", "N'a'", "n'it''s'", '"a"', "\"it's\"", '/*+ FULL(a) */ b', '-- a\n', 'a$b#', "xq'a'", "q 'a'", 'a(+)', 'a@b', "DATE '2026-01-01'"],
    refused: {
      variable_in_literal: ["'\\''¤'", "N'¤'", "xq'¤'"],
      variable_in_identifier: ['"¤"', '"\\" "¤"'],
      variable_in_comment: ['--¤', '/* ¤ */'],
      malformed_template: [
        "q'[it's]'", "Q'{a}'", "nq'!a!'", "Nq'(a)'", "q'[ ' ¤ ' ]'", "a,q'[b]'", '/* /* */', 'a\u00a0', '"',
      ],
      placeholder_in_template: [':1', ':a', ': a', ':"a"', '?', '(:a)'],
    },
  },
} // prettier-ignore

export const rules: Record<SqlDialect, Rules> = { ...rulesByDialect, mariadb: rulesByDialect.mysql }
