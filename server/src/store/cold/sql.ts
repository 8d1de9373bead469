export type Dialect = 'sqlite' | 'postgres'

/** A statement as one dialect gets it. */
export interface Rendered {
  readonly text: string
  readonly values: readonly unknown[]
}

interface Output {
  readonly dialect: Dialect
  text: string
  readonly values: unknown[]
}

/** A statement, or a part of one, in both dialects. */
export class Sql<Row = unknown> {
  /** Never set. Carries the type of the rows. */
  declare readonly row?: Row
  readonly write: (output: Output) => void
  /** Name of a prepared statement. */
  name: string | undefined
  /** Bucket of the rows, or null for all buckets. Undefined for tables without buckets. */
  bucket: number | null | undefined

  constructor(write: (output: Output) => void) {
    this.write = write
  }

  /** Lets PostgreSQL prepare the statement once for each connection. Its text must not vary. */
  prepared(name: string): this {
    this.name = name
    return this
  }

  inBucket(bucket: number | null): this {
    this.bucket = bucket
    return this
  }

  render(dialect: Dialect): Rendered {
    const output = { dialect, text: '', values: [] }
    this.write(output)
    return { text: output.text.trim(), values: output.values }
  }

  /** Runs the statement in an operation: ``const rows = yield* sql<Row>`SELECT …` `` */
  *[Symbol.iterator](): Generator<Sql, Row[], unknown> {
    return (yield this) as Row[]
  }
}

/** Writes SQL. Values become parameters; values that are `Sql` become part of the text. */
export function sql<Row = unknown>(strings: TemplateStringsArray, ...values: readonly unknown[]): Sql<Row> {
  return new Sql((output) =>
    strings.forEach((text, i) => {
      output.text += text
      if (i >= values.length) return
      const value = values[i]
      if (value instanceof Sql) value.write(output)
      else output.text += placeholder(output, value)
    }),
  )
}

/** Makes text part of a statement. */
export function raw(text: string): Sql {
  return new Sql((output) => (output.text += text))
}

/** Writes parts with a separator. */
export function joined(parts: readonly Sql[], separator: string): Sql {
  return new Sql((output) =>
    parts.forEach((part, i) => {
      if (i > 0) output.text += separator
      part.write(output)
    }),
  )
}

/** Writes parameters, separated by commas. */
export function list(values: readonly unknown[]): Sql {
  return new Sql((output) => (output.text += values.map((value) => placeholder(output, value)).join(', ')))
}

/** Writes the condition that a column has one of the values, which are one parameter. */
export function anyOf(column: string, type: ColumnType, values: readonly unknown[]): Sql {
  return either({
    sqlite: sql`${raw(column)} IN (SELECT value FROM json_each(${JSON.stringify(values)}))`,
    postgres: sql`${raw(column)} = ANY (${values}::${raw(type)}[])`,
  })
}

/** Writes SQL that differs between the dialects. */
export function either<Row = unknown>(dialects: Readonly<Record<Dialect, Sql>>): Sql<Row> {
  return new Sql((output) => dialects[output.dialect].write(output))
}

/** Writes SQL for PostgreSQL only. SQLite skips a statement without text, such as a lock. */
export function postgres(strings: TemplateStringsArray, ...values: readonly unknown[]): Sql {
  return either({ sqlite: raw(''), postgres: sql(strings, ...values) })
}

export type ColumnType = 'bigint' | 'bytea' | 'integer' | 'smallint' | 'text' | 'uuid'

/**
 * Writes a table of these rows, for `FROM`. The rows are one parameter on SQLite (a JSON array) and one for each column on PostgreSQL,
 * so that the text does not depend on their number.
 */
export function rowsOf<Column extends string>(
  alias: string,
  types: Readonly<Record<Column, ColumnType>>,
  rows: readonly Readonly<Record<NoInfer<Column>, unknown>>[],
): Sql {
  const columns = Object.entries(types) as [Column, ColumnType][]
  return new Sql((output) => {
    if (output.dialect === 'sqlite') {
      const cells = columns.map(([name, type], i) =>
        type === 'bytea' ? `unhex(value ->> ${i}) AS ${name}` : `value ->> ${i} AS ${name}`,
      )
      const json = JSON.stringify(rows.map((row) => columns.map(([name, type]) => jsonOf(row[name], type))))
      output.text += `(SELECT ${cells.join(', ')} FROM json_each(${placeholder(output, json)})) AS ${alias}`
    } else {
      const arrayOf = (name: Column) => placeholder(output, columnOf(rows, name))
      const arrays = columns.map(([name, type]) => `${arrayOf(name)}::${type}[]`)
      const names = columns.map(([name]) => name)
      output.text += `unnest(${arrays.join(', ')}) AS ${alias} (${names.join(', ')})`
    }
  })
}

function columnOf<Column extends string>(rows: readonly Readonly<Record<Column, unknown>>[], name: Column) {
  return rows.map((row) => row[name])
}

function jsonOf(value: unknown, type: ColumnType): unknown {
  return type === 'bytea' ? Buffer.from(value as Uint8Array).toString('hex') : value
}

function placeholder({ dialect, values }: Output, value: unknown): string {
  values.push(value)
  return dialect === 'sqlite' ? '?' : `$${values.length}`
}
