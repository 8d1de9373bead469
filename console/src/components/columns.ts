import type { ReactNode } from 'react'

export interface Column<Row> {
  readonly id: string
  /** Empty for a column of buttons. */
  readonly header: string
  readonly cell: (row: Row) => ReactNode
  /** Value to sort by. Absent if the column cannot be sorted in the browser. */
  readonly valueOf?: (row: Row) => unknown
  /** CSS width on wide screens. If one column has it, the table ignores the lengths of its contents. */
  readonly width?: string
  /** Name by which the service sorts. */
  readonly sort?: string
}

export type Columns<Row> = readonly Column<Row>[]

interface Cell<Row, Value> {
  readonly getValue: () => Value
  readonly row: { readonly original: Row }
}

interface Options<Row, Value> {
  readonly header: string
  readonly id?: string
  /** Default: the value. */
  readonly cell?: (cell: Cell<Row, Value>) => ReactNode
  readonly width?: string
  readonly sort?: string
  readonly enableSorting?: boolean
}

interface Create<Row> {
  /** Creates a column of a member, or of a computed value. */
  accessor<Name extends keyof Row & string>(name: Name, options: Options<Row, Row[Name]>): Column<Row>
  accessor<Value>(
    valueOf: (row: Row) => Value,
    options: Options<Row, Value> & { readonly id: string },
  ): Column<Row>
  /** Creates a column that cannot be sorted in the browser. */
  display(options: Options<Row, undefined> & { readonly id: string }): Column<Row>
}

/** Creates the columns of a table. Call it once, or memoize it: new columns render all rows again. */
export function columnsOf<Row>(create: (column: Create<Row>) => Columns<Row>): Columns<Row> {
  return create({ accessor, display: (options) => columnWith(() => undefined, options, options.id, false) })
}

function accessor<Row, Value>(
  source: string | ((row: Row) => Value),
  options: Options<Row, Value>,
): Column<Row> {
  const { id = String(source), enableSorting = true } = options
  const valueOf = typeof source === 'string' ? (row: Row) => row[source as keyof Row] as Value : source
  return columnWith(valueOf, options, id, enableSorting && options.header !== '')
}

function columnWith<Row, Value>(
  valueOf: (row: Row) => Value,
  { header, width, sort, cell }: Options<Row, Value>,
  id: string,
  isSortable: boolean,
): Column<Row> {
  return {
    id,
    header,
    cell: (row) =>
      cell ? cell({ getValue: () => valueOf(row), row: { original: row } }) : (valueOf(row) as ReactNode),
    ...(isSortable && { valueOf }),
    ...(width !== undefined && { width }),
    ...(sort !== undefined && { sort }),
  }
}
