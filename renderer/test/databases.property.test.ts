import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { TemplateError, type CompiledSql } from '../src/index.ts'
import { grammar, hostileText, scalar, type Piece } from './arbitraries.ts'
import { cases } from '../../server/test/support/cases.ts'
import { openDatabase, realDatabases, type Database } from './databases.ts'
import { everywhere, mark, rules, variable } from './lexical-cases.ts'
import { compiled, compileWith, example, placeholders, refusal, value, withValue } from './support.ts'

function typeOf(scalar: string | number | boolean): 'text' | 'number' | 'boolean' {
  return typeof scalar === 'string' ? 'text' : (typeof scalar as 'number' | 'boolean')
}

/** The driver refuses integers beyond 64 bits, and drops a byte order mark when it reads a text. */
function isUnchangedByDuckDb(scalar: unknown): boolean {
  return typeof scalar === 'string'
    ? !scalar.startsWith('\ufeff')
    : !Number.isInteger(scalar) || Math.abs(scalar as number) < 2 ** 63
}

function hasNoBooleans(dialect: Database['dialect']): boolean {
  return dialect === 'sqlite' || dialect === 'mariadb'
}

for (const dialect of realDatabases) {
  describe(`real database (${dialect})`, () => {
    const runs = (numRuns: number) => ({ numRuns: cases(numRuns), endOnFailure: true })

    it('returns every value unchanged', async (t) => {
      const database = await openDatabase(t, dialect)
      if (database === undefined) return
      await fc.assert(
        fc.asyncProperty(scalar, async (scalar) => {
          fc.pre(dialect !== 'duckdb' || isUnchangedByDuckDb(scalar))
          const template = `SELECT ${database.cast(value, typeOf(scalar))}`
          const rows = await database.query(compileWith(template, withValue(scalar), dialect))
          assert.deepEqual(rows, [
            [hasNoBooleans(dialect) && typeof scalar === 'boolean' ? Number(scalar) : scalar],
          ])
        }),
        runs(60),
      )
      const [row] = await database.query(
        compileWith(`SELECT ${database.cast(value, 'text')}`, withValue(null), dialect),
      )
      assert.deepEqual(row, [null])
    })

    it('returns only the rows of the user group, with any id', async (t) => {
      const database = await openDatabase(t, dialect)
      if (database === undefined) return
      await database.execute('CREATE TABLE sales (customer text, amount int)')
      const insert = 'INSERT INTO sales VALUES ({{ user_group.provided_id }}, 1)'
      for (const customer of ['customer-1', 'customer-2', '', 'NULL']) {
        await database.query(compileWith(insert, { ...example, providedId: customer }, dialect))
      }
      const template = `SELECT customer FROM sales WHERE customer = {{ user_group.provided_id }} AND amount > 0 -- it's
        UNION ALL SELECT customer FROM sales WHERE amount < 0`
      await fc.assert(
        fc.asyncProperty(hostileText, async (providedId) => {
          fc.pre(dialect !== 'duckdb' || isUnchangedByDuckDb(providedId))
          const userGroup = { ...example, providedId }
          await database.query(compileWith(insert, userGroup, dialect))
          const rows = await database.query(compileWith(template, userGroup, dialect))
          assert.ok(rows.length > 0)
          assert.deepEqual(new Set(rows.flat()), new Set([providedId]))
        }),
        runs(40),
      )
    })

    it('a list selects the rows of its items, and with NOT IN the others', async (t) => {
      const database = await openDatabase(t, dialect)
      if (database === undefined) return
      const all = [
        'EU',
        'US',
        '',
        "'",
        'NULL',
        'EU,US',
        "EU','US",
        "EU') OR ('1'='1",
        '(EU)',
        '{EU}',
        '[]',
        '?',
        '$1',
      ]
      await database.execute('CREATE TABLE sales (region text)')
      const insert = `INSERT INTO sales VALUES (${value})`
      for (const region of all) {
        await database.query(compileWith(insert, withValue(region), dialect))
      }
      await database.execute('INSERT INTO sales VALUES (NULL)')
      const select = async (operator: string, list: unknown[]) => {
        const template = `SELECT region FROM sales WHERE region ${operator} (${value})`
        const rows = await database.query(compileWith(template, withValue(list), dialect))
        return rows.flat().sort()
      }
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.oneof(fc.constantFrom(...all), hostileText), { maxLength: 6 }),
          async (list) => {
            const inside = all.filter((region) => list.includes(region))
            const outside = all.filter((region) => !list.includes(region))
            assert.deepEqual(await select('IN', list), inside.sort())
            assert.deepEqual(await select('NOT IN', list), list.length === 0 ? [] : outside.sort())
          },
        ),
        runs(40),
      )
      assert.deepEqual(await select('IN', ['EU', null]), ['EU'])
      assert.deepEqual(await select('NOT IN', ['EU', null]), [])
      assert.deepEqual(
        await select('=', []).catch((error: unknown) => (error as TemplateError).code),
        'list_outside_in',
      )
    })

    it('null selects no rows', async (t) => {
      const database = await openDatabase(t, dialect)
      if (database === undefined) return
      await database.execute(
        "CREATE TABLE sales (region text); INSERT INTO sales VALUES ('EU'), (''), (NULL)",
      )
      const text = database.cast(value, 'text')
      for (const condition of [
        'region = ¤',
        'region <> ¤',
        'region IN (¤)',
        'region NOT IN (¤)',
        "region LIKE concat('%', ¤, '%') AND ¤ <> ''",
      ]) {
        const template = `SELECT region FROM sales WHERE ${condition.replaceAll('¤', text)}`
        assert.deepEqual(await database.query(compileWith(template, withValue(null), dialect)), [])
      }
    })

    it('in a well-formed statement, variables and literals have their values', async (t) => {
      const database = await openDatabase(t, dialect)
      if (database === undefined) return
      await fc.assert(
        fc.asyncProperty(statement(database), hostileText, async ({ template, expected }, name) => {
          fc.pre(dialect !== 'duckdb' || isUnchangedByDuckDb(name))
          const result = compileWith(template, { ...example, name }, dialect)
          assert.deepEqual(result.values, [name])
          const [row = []] = await database.query(result)
          const wanted = expected.map((column, i) => (column === variable ? name : (column ?? row[i])))
          assert.deepEqual(row, wanted)
        }),
        runs(60),
      )
    })

    it('a variable inside a literal, an identifier or a comment is refused', () => {
      const { expression, comment, identifier } = grammar[dialect]
      fc.assert(
        fc.property(fc.oneof(expression, comment, identifier), fc.nat(), hostileText, (piece, at, name) => {
          const { sql, enclosed }: Piece = piece
          fc.pre(enclosed !== undefined)
          const [from, to] = enclosed
          const place = from + (at % (to - from + 1))
          const template = `SELECT 'a', ${sql.slice(0, place)}${variable}${sql.slice(place)} , 1`
          refusal(template, dialect, { ...example, name })
        }),
        runs(60),
      )
    })

    it('a malformed statement is refused, or the database counts the same parameters', async (t) => {
      const database = await openDatabase(t, dialect)
      if (database === undefined) return
      let taken = 0
      let run = 0
      await fc.assert(
        fc.asyncProperty(
          statement(database),
          fc.array(slip, { minLength: 1, maxLength: 3 }),
          async ({ template }, slips) => {
            const result = compiled(slips.reduce(withSlip, template), dialect)
            if (result instanceof TemplateError) return
            taken++
            if (await countsAsMany(database, result)) run++
          },
        ),
        runs(300),
      )
      t.diagnostic(`${taken} were compiled, of which the database ran ${run}`)
      assert.ok(run >= 15, 'too few are statements still: the test says nothing')
    })

    it('counts one parameter after each of the lexical cases', async (t) => {
      const database = await openDatabase(t, dialect)
      if (database === undefined) return
      let run = 0
      const { code, refused } = rules[dialect]
      const templates = [...everywhere.code, ...code].flatMap((piece) => [
        `SELECT ${piece} , ${database.cast(variable, 'text')}`,
        `SELECT 1 AS a WHERE 'x' IN ('y', ${piece}\n, ${database.cast(variable, 'text')})`,
      ])
      for (const template of templates) {
        const result = compiled(template, dialect)
        if (!(result instanceof TemplateError) && (await countsAsMany(database, result))) run++
      }
      assert.ok(run >= 50, `${run} of ${templates.length} ran`)
      // And none if the variable was refused because of its position.
      for (const [reason, templates] of Object.entries({ ...everywhere.refused, ...refused })) {
        if (!reason.startsWith('variable_in_')) continue
        for (const template of templates) {
          // MariaDB reads two minus signs, but compileSql allows no variable after them.
          if (dialect === 'mariadb' && template.endsWith('--¤')) continue
          const text = `SELECT ${template.replaceAll(mark, placeholders[dialect](1))}`
          await assert.rejects(() => database.query({ text, values: ['x'] }), text)
        }
      }
    })
  })
}

interface Statement {
  readonly template: string
  /** Value of each column: `variable` for the variable's, null if unknown. */
  readonly expected: (string | null)[]
}

/** Creates a SELECT with expressions, comments, aliases and one variable. */
function statement(database: Database): fc.Arbitrary<Statement> {
  const { expression, comment, identifier } = grammar[database.dialect]
  const column = fc.oneof<fc.MaybeWeightedArbitrary<Piece>[]>(
    { weight: 3, arbitrary: expression },
    identifier,
  )
  const space = fc.oneof<fc.MaybeWeightedArbitrary<Piece>[]>(
    fc.constantFrom({ sql: ' ' }, { sql: '\n' }),
    comment,
  )
  return fc
    .tuple(fc.array(fc.tuple(column, space, space), { maxLength: 5 }), fc.nat({ max: 5 }), space)
    .map(([columns, at, last]) => {
      const own: Piece = { sql: database.cast(variable, 'text'), value: variable }
      const all = columns.toSpliced(at, 0, [own, { sql: ' ' }, { sql: ' ' }])
      const written = all.map(([piece, before, after]) => `${before.sql} ${piece.sql} ${after.sql}`)
      return {
        template: `SELECT ${written.join(',')} ${last.sql}`,
        expected: all.map(([piece]) => piece.value ?? null),
      }
    })
}

type Slip = readonly [at: number, deleted: number, inserted: string]

const slip: fc.Arbitrary<Slip> = fc.tuple(
  fc.nat(),
  fc.nat({ max: 2 }),
  fc.constantFrom('', '', "'", '"', '\\', '$', '$$', '$a$', '--', '/*', '*/', '\n', '\r', 'E', "E'", ' ', '[', ']', '`', ',', '1', 'e', '/**/', "''", '-'),
) // prettier-ignore

function withSlip(template: string, [at, deleted, inserted]: Slip): string {
  const place = at % (template.length + 1)
  return template.slice(0, place) + inserted + template.slice(place + deleted)
}

/** Asserts that the database counts as many parameters as compileSql. Returns true if it ran the statement. */
async function countsAsMany(database: Database, result: CompiledSql) {
  try {
    await database.query(result)
    return true
  } catch (error) {
    assert.ok(!database.countsAnother(error), `${result.text}: ${String(error)}`)
    return false
  }
}
