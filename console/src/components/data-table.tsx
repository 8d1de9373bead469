import { Checkbox, Table, UnstyledButton, VisuallyHidden } from '@mantine/core'
import { IconArrowDown, IconArrowUp, IconArrowsSort } from './icons.tsx'
import {
  createColumnHelper,
  createSortedRowModel,
  rowSortingFeature,
  sortFn_alphanumeric,
  sortFn_text,
  tableFeatures,
  useTable,
  type ColumnDef,
  type ColumnHelper,
  type Header,
  type RowData,
} from '@tanstack/react-table'
import classes from './data-table.module.css'

const features = tableFeatures({
  rowSortingFeature,
  sortedRowModel: createSortedRowModel(),
  sortFns: { alphanumeric: sortFn_alphanumeric, text: sortFn_text },
})
type Features = typeof features

// The values of its columns are of different types.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type Columns<Row extends RowData> = ColumnDef<Features, Row, any>[]

/** Creates the columns of a table. Call it once, outside of components. */
export function columnsOf<Row extends RowData>(
  create: (column: ColumnHelper<Features, Row>) => readonly unknown[],
): Columns<Row> {
  return create(createColumnHelper<Features, Row>()) as Columns<Row>
}

interface Props<Row extends RowData> {
  /** Accessible name of the table. */
  readonly label: string
  readonly columns: Columns<Row>
  readonly rows: readonly Row[]
  readonly rowId: (row: Row) => string
  readonly sortable?: boolean
  readonly selection?: Selection<Row>
}

/** Rows that the user has chosen, by their ids. */
export interface Selection<Row extends RowData> {
  readonly ids: ReadonlySet<string>
  readonly onToggle: (id: string) => void
  /** Accessible name of the checkbox of a row. */
  readonly label: (row: Row) => string
}

/** A table that becomes a list of cards on narrow screens. */
export function DataTable<Row extends RowData>({
  label,
  columns,
  rows,
  rowId,
  sortable = false,
  selection,
}: Props<Row>) {
  const table = useTable({ features, columns, data: rows, getRowId: rowId, enableSorting: sortable })
  return (
    <Table role="table" aria-label={label} className={classes.table} verticalSpacing="xs" highlightOnHover>
      <Table.Thead role="rowgroup" className={classes.head}>
        {table.getHeaderGroups().map((group) => (
          <Table.Tr key={group.id} role="row">
            {selection && (
              <Table.Th role="columnheader" className={classes.header}>
                <VisuallyHidden>Selected</VisuallyHidden>
              </Table.Th>
            )}
            {group.headers.map((header) => (
              <HeaderCell key={header.id} header={header}>
                {titleOf(header.column.columnDef) === '' ? (
                  <VisuallyHidden>Actions</VisuallyHidden>
                ) : (
                  <table.FlexRender header={header} />
                )}
              </HeaderCell>
            ))}
          </Table.Tr>
        ))}
      </Table.Thead>
      <Table.Tbody role="rowgroup">
        {table.getRowModel().rows.map((row) => (
          <Table.Tr key={row.id} role="row" className={classes.row}>
            {selection && <SelectionCell row={row.original} id={row.id} selection={selection} />}
            {row.getAllCells().map((cell) => (
              <Table.Td
                key={cell.id}
                role="cell"
                className={classes.cell}
                data-label={titleOf(cell.column.columnDef)}
              >
                <div className={classes.content}>
                  <table.FlexRender cell={cell} />
                </div>
              </Table.Td>
            ))}
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  )
}

interface SelectionCellProps<Row extends RowData> {
  readonly row: Row
  readonly id: string
  readonly selection: Selection<Row>
}

function SelectionCell<Row extends RowData>({ row, id, selection }: SelectionCellProps<Row>) {
  return (
    <Table.Td role="cell" className={classes.cell} data-label="Selected">
      <Checkbox
        aria-label={selection.label(row)}
        checked={selection.ids.has(id)}
        onChange={() => selection.onToggle(id)}
      />
    </Table.Td>
  )
}

function titleOf({ header }: { readonly header?: unknown }): string {
  return typeof header === 'string' ? header : ''
}

interface HeaderProps<Row extends RowData> {
  readonly header: Header<Features, Row>
  readonly children: React.ReactNode
}

function HeaderCell<Row extends RowData>({ header, children }: HeaderProps<Row>) {
  const sorted = header.column.getIsSorted()
  const Icon = sorted === 'asc' ? IconArrowUp : sorted === 'desc' ? IconArrowDown : IconArrowsSort
  const isSortable = header.column.getCanSort() && header.column.columnDef.header !== ''
  return (
    <Table.Th
      role="columnheader"
      className={classes.header}
      {...(sorted !== false && { 'aria-sort': sorted === 'asc' ? 'ascending' : 'descending' })}
    >
      {isSortable ? (
        <UnstyledButton className={classes.sort} onClick={header.column.getToggleSortingHandler()}>
          {children}
          <Icon size={14} aria-hidden className={classes.sortIcon} />
        </UnstyledButton>
      ) : (
        children
      )}
    </Table.Th>
  )
}
