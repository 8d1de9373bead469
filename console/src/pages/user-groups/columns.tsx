import type { ListedUserGroup, Mapping } from '../../api/wire.ts'
import { numberText } from '../../components/counts.tsx'
import { CustomerText } from '../../components/customer-text.tsx'
import { columnsOf } from '../../components/data-table.tsx'
import { TextLink } from '../../components/links.tsx'
import { Time } from '../../components/time.tsx'
import { Exceptions } from './exceptions.tsx'
import classes from './search-results.module.css'

/** Columns that the user may hide. */
export const optionalColumns = {
  exceptions: 'Attention',
  mapping: 'Mapping',
  last_seen: 'Last seen',
  viewers: 'Viewers this month',
  created_at: 'Created',
  updated_at: 'Last change',
} as const

/** Columns that are hidden until the user chooses them. */
export const hiddenAtFirst = innerWidth < 1400 ? ['mapping', 'created_at', 'updated_at'] : ['created_at']

const shownEntries = 2

function summaryOf(mapping: Mapping): string {
  const entries = Object.entries(mapping ?? {}).map(([schema, dataSource]) => `${schema} → ${dataSource}`)
  const more = entries.length - shownEntries
  return `${entries.slice(0, shownEntries).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

interface Options {
  readonly hidden: ReadonlySet<string>
  /** Numbers of viewers by team id. Undefined if usage is not known. */
  readonly viewers: ReadonlyMap<number, number> | undefined
}

/** Returns the chosen columns. */
export const columnsWith = ({ hidden, viewers }: Options) =>
  columnsOf<ListedUserGroup>((column) => [
    column.accessor('name', {
      header: 'Name',
      sort: 'name',
      cell: ({ row: { original } }) => <Name userGroup={original} />,
    }),
    column.accessor('provided_id', {
      header: 'Id',
      sort: 'user_group_id',
      cell: ({ getValue }) => (
        <span className={classes.id}>
          <CustomerText>{getValue()}</CustomerText>
        </span>
      ),
    }),
    column.display({
      id: 'exceptions',
      header: optionalColumns.exceptions,
      width: '9rem',
      cell: ({ row: { original } }) => <Exceptions userGroup={original} />,
    }),
    column.display({
      id: 'mapping',
      header: optionalColumns.mapping,
      cell: ({ row: { original } }) => (
        <span className={classes.small}>{summaryOf(original.mapping) || 'None'}</span>
      ),
    }),
    column.display({
      id: 'last_seen',
      header: optionalColumns.last_seen,
      width: '7rem',
      cell: ({ row: { original } }) => <LastSeen userGroup={original} />,
    }),
    column.display({
      id: 'viewers',
      header: optionalColumns.viewers,
      width: '6rem',
      cell: ({ row: { original } }) => viewers && numberText(viewers.get(original.team_id) ?? 0),
    }),
    ...(['created_at', 'updated_at'] as const).map((name) =>
      column.accessor(name, {
        header: optionalColumns[name],
        width: '7rem',
        ...(name === 'created_at' && { sort: name }),
        cell: ({ getValue }) => <Time value={getValue()} as="age" />,
      }),
    ),
  ]).filter(({ id }) => !hidden.has(id) && (id !== 'viewers' || viewers !== undefined))

function Name({ userGroup: { team_id, name } }: { readonly userGroup: ListedUserGroup }) {
  return (
    <TextLink to="/user-groups/$teamId" params={{ teamId: String(team_id) }} className={classes.name ?? ''}>
      <CustomerText>{name}</CustomerText>
    </TextLink>
  )
}

function LastSeen({ userGroup: { health } }: { readonly userGroup: ListedUserGroup }) {
  if (health === undefined) return null
  if (health.last_introspected_at === null) return <span className={classes.dimmed}>never</span>
  return <Time value={health.last_introspected_at} as="age" />
}
