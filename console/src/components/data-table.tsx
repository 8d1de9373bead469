import { VisuallyHidden } from '@mantine/core'
import { memo, useRef } from 'react'
import type { Columns } from './columns.ts'
import classes from './data-table.module.css'
import { IconArrowDown, IconArrowUp, IconArrowsSort } from './icons.tsx'
import { nextOrder, useLocalSorting, type Sorting } from './sorting.ts'
import { useVirtualRows, wholeUpTo } from './virtual-rows.ts'

export { columnsOf, type Columns } from './columns.ts'

interface Props<Row> {
  /** Accessible name of the table. */
  readonly label: string
  readonly columns: Columns<Row>
  readonly rows: readonly Row[]
  readonly rowId: (row: Row) => string
  /** True if the list is complete and the browser sorts it. */
  readonly sortable?: boolean
  /** Sorting by the service. */
  readonly sorting?: Sorting<Row>
  readonly selection?: Selection<Row>
  /** Number of rows of the whole list. Default: those that are loaded. -1 if it is unknown. */
  readonly total?: number
  /** Loads more rows. Called when the last ones become visible. */
  readonly onEnd?: (() => void) | undefined
}

/** Rows that the user has chosen, by their ids. Keep the functions the same between renderings. */
export interface Selection<Row> {
  readonly ids: ReadonlySet<string>
  readonly onToggle: (id: string) => void
  /** Accessible name of the checkbox of a row. */
  readonly label: (row: Row) => string
}

/** A table that becomes a list of cards on narrow screens, and renders only the visible part of a long list. */
export function DataTable<Row>(props: Props<Row>) {
  const { label, columns, rows, rowId, sortable = false, selection, total, onEnd } = props
  const local = useLocalSorting(rows, columns)
  const sorting = sortable ? local.sorting : props.sorting
  const shown = sortable ? local.sorted : rows
  const body = useRef<HTMLTableSectionElement>(null)
  const keyOf = (index: number) => {
    const row = shown[index]
    return row === undefined ? String(index) : rowId(row)
  }
  const { items, gapAfter, measure } = useVirtualRows({ count: shown.length, keyOf, body, onEnd })
  const hasWidths = shown.length > wholeUpTo || columns.some(({ width }) => width !== undefined)
  const all = total ?? rows.length
  return (
    <table
      role="table"
      aria-label={label}
      aria-rowcount={all === -1 ? -1 : all + 1}
      className={classes.table}
      data-fixed={hasWidths}
    >
      <colgroup>
        {selection && <col className={classes.selectionWidth} />}
        {columns.map(({ id, width }) => (
          <col key={id} style={{ width }} />
        ))}
      </colgroup>
      <Head columns={columns} sorting={sorting} isSelectable={selection !== undefined} />
      <tbody role="rowgroup" ref={body}>
        {/* Flat, so that a row stays the same element at another index. */}
        {items.flatMap(({ index, key, gap }) => {
          const row = shown[index]
          if (row === undefined) return []
          const id = String(key)
          return [
            gap > 0 && <Gap key={`before ${id}`} height={gap} />,
            <BodyRow
              key={id}
              row={row}
              id={id}
              index={index}
              columns={columns}
              measure={measure}
              isSelected={selection?.ids.has(id)}
              onToggle={selection?.onToggle}
              selectionLabel={selection?.label}
            />,
          ]
        })}
        {gapAfter > 0 && <Gap height={gapAfter} />}
      </tbody>
    </table>
  )
}

/** Takes the place of rows that are not rendered. */
function Gap({ height }: { readonly height: number }) {
  return <tr aria-hidden className={classes.gap} style={{ height }} />
}

interface HeadProps<Row> {
  readonly columns: Columns<Row>
  readonly sorting: Sorting<Row> | undefined
  readonly isSelectable: boolean
}

function Head<Row>({ columns, sorting, isSelectable }: HeadProps<Row>) {
  return (
    <thead role="rowgroup" className={classes.head}>
      <tr role="row" aria-rowindex={1}>
        {isSelectable && (
          <th role="columnheader" className={classes.header}>
            <VisuallyHidden>Selected</VisuallyHidden>
          </th>
        )}
        {columns.map((column) => (
          <HeaderCell
            key={column.id}
            header={column.header}
            name={sorting?.nameOf(column)}
            sorting={sorting}
          />
        ))}
      </tr>
    </thead>
  )
}

interface HeaderProps<Row> {
  readonly header: string
  /** Name of the column in an order. Undefined if it cannot be sorted. */
  readonly name: string | undefined
  readonly sorting: Sorting<Row> | undefined
}

function HeaderCell<Row>({ header, name, sorting }: HeaderProps<Row>) {
  const order = name !== undefined && sorting?.order?.by === name ? sorting.order : undefined
  const Icon = order === undefined ? IconArrowsSort : order.descending ? IconArrowDown : IconArrowUp
  return (
    <th
      role="columnheader"
      className={classes.header}
      {...(order && { 'aria-sort': order.descending ? 'descending' : 'ascending' })}
    >
      {header === '' ? (
        <VisuallyHidden>Actions</VisuallyHidden>
      ) : name === undefined ? (
        header
      ) : (
        <button
          type="button"
          className={classes.sort}
          onClick={() => sorting?.onSort(nextOrder(sorting.order, name))}
        >
          {header}
          <Icon size={14} aria-hidden className={classes.sortIcon ?? ''} />
        </button>
      )}
    </th>
  )
}

interface RowProps<Row> {
  readonly row: Row
  readonly id: string
  readonly index: number
  readonly columns: Columns<Row>
  readonly measure: (row: HTMLTableRowElement | null) => void
  /** Undefined if rows cannot be selected. */
  readonly isSelected: boolean | undefined
  readonly onToggle: ((id: string) => void) | undefined
  readonly selectionLabel: ((row: Row) => string) | undefined
}

function PlainRow<Row>(props: RowProps<Row>) {
  const { row, id, index, columns, measure, isSelected, onToggle, selectionLabel } = props
  return (
    <tr ref={measure} data-index={index} role="row" aria-rowindex={index + 2} className={classes.row}>
      {isSelected !== undefined && (
        <td role="cell" className={`${classes.cell} ${classes.selection}`} data-label="Selected">
          <input
            type="checkbox"
            className={classes.checkbox}
            aria-label={selectionLabel?.(row)}
            checked={isSelected}
            onChange={() => onToggle?.(id)}
          />
        </td>
      )}
      {columns.map((column) => (
        <td key={column.id} role="cell" className={classes.cell} data-label={column.header}>
          <div className={classes.content}>{column.cell(row)}</div>
        </td>
      ))}
    </tr>
  )
}

/** Rendered again only if the row or its selection changes. */
const BodyRow = memo(PlainRow) as typeof PlainRow
