import { useMemo, useState } from 'react'
import type { Column, Columns } from './columns.ts'

export interface Order {
  /** Name of the column, or by which the service sorts. */
  readonly by: string
  readonly descending: boolean
}

export interface Sorting<Row> {
  /** Undefined for the order of the service. */
  readonly order: Order | undefined
  readonly onSort: (order: Order | undefined) => void
  /** Returns the name of the column in `order`. Undefined if it cannot be sorted. */
  readonly nameOf: (column: Column<Row>) => string | undefined
}

/** Ascending, then descending, then as the service sorts. */
export function nextOrder(order: Order | undefined, by: string): Order | undefined {
  if (order?.by !== by) return { by, descending: false }
  return order.descending ? undefined : { by, descending: true }
}

const collator = new Intl.Collator('en', { numeric: true })

/** Sorts complete lists in the browser. */
export function useLocalSorting<Row>(rows: readonly Row[], columns: Columns<Row>) {
  const [order, setOrder] = useState<Order>()
  const sorted = useMemo(() => {
    const valueOf = columns.find(({ id }) => id === order?.by)?.valueOf
    if (order === undefined || valueOf === undefined) return rows
    const sign = order.descending ? -1 : 1
    return rows.toSorted(
      (one, other) => sign * collator.compare(String(valueOf(one)), String(valueOf(other))),
    )
  }, [rows, columns, order])
  const sorting: Sorting<Row> = {
    order,
    onSort: setOrder,
    nameOf: ({ id, valueOf }) => (valueOf === undefined ? undefined : id),
  }
  return { sorted, sorting }
}
