import { Badge, Code, Text } from '@mantine/core'
import { IconLinkOff, IconUsers } from '../../components/icons.tsx'
import { Fragment, useMemo } from 'react'
import { useRegistry } from '../../api/queries.ts'
import { nearest, resolve, type Registry } from '../../api/registry.ts'
import { columnsOf, DataTable } from '../../components/data-table.tsx'
import { TextLink } from '../../components/links.tsx'
import classes from './findings-table.module.css'
import type { Finding } from './use-findings.ts'

/** Maximum number of user groups in a finding. */
const namedAtMost = 10

const columnsWith = (registry: Registry | undefined) =>
  columnsOf<Finding>((column) => [
    column.accessor('kind', { header: 'Finding', cell: ({ getValue }) => <Kind kind={getValue()} /> }),
    column.display({
      id: 'entry',
      header: 'Mapping entry',
      cell: ({ row: { original } }) => <Entry finding={original} registry={registry} />,
    }),
    column.display({
      id: 'user_groups',
      header: 'User groups',
      cell: ({ row: { original } }) => <UserGroups finding={original} />,
    }),
    column.display({
      id: 'advice',
      header: 'What to do',
      cell: ({ row: { original } }) => <Advice finding={original} registry={registry} />,
    }),
  ])

interface TableProps {
  readonly label: string
  readonly findings: readonly Finding[]
}

export function FindingsTable({ label, findings }: TableProps) {
  const registry = useRegistry()
  const columns = useMemo(() => columnsWith(registry), [registry])
  return (
    <DataTable
      label={label}
      columns={columns}
      rows={findings}
      rowId={({ kind, schema, data_source }) => JSON.stringify([kind, schema, data_source])}
    />
  )
}

export function Kind({ kind }: Pick<Finding, 'kind'>) {
  const isShared = kind === 'shared'
  const Icon = isShared ? IconUsers : IconLinkOff
  return (
    <Badge
      variant="light"
      color={isShared ? 'blue' : 'red'}
      miw="max-content"
      leftSection={<Icon size={12} aria-hidden />}
    >
      {titles[kind]}
    </Badge>
  )
}

const titles: Record<Finding['kind'], string> = {
  shared: 'Shared',
  unresolved: 'Names nothing',
  mapped_twice: 'Mapped twice',
}

interface Props {
  readonly finding: Finding
  readonly registry: Registry | undefined
}

function Entry({ finding: { schema, data_source, registered }, registry }: Props) {
  const known = registry && resolve(registry, schema, data_source).schema
  return (
    <div className={classes.entry}>
      <Code>{schema}</Code> → <Code>{data_source}</Code>
      {registered !== null && (
        <Text size="xs" c="dimmed">
          {known !== undefined && `${known.name}, `}
          {registered.name}
        </Text>
      )}
    </div>
  )
}

function UserGroups({ finding: { schema, data_source, user_groups: named } }: Pick<Props, 'finding'>) {
  return (
    <div className={classes.userGroups}>
      {named.map(({ team_id, provided_id, name }, i) => (
        <Fragment key={team_id}>
          {i > 0 && ', '}
          <TextLink
            to="/user-groups/$teamId"
            params={{ teamId: String(team_id) }}
            size="sm"
            title={provided_id}
          >
            {name}
          </TextLink>
        </Fragment>
      ))}
      {named.length >= namedAtMost && (
        <>
          {'. '}
          <TextLink to="/user-groups" search={{ schema, data_source }} size="sm" underline="always">
            Find all with this entry
          </TextLink>
        </>
      )}
    </div>
  )
}

function Advice({ finding, registry }: Props) {
  const { kind, schema, data_source } = finding
  if (kind === 'shared')
    return (
      <div className={classes.advice}>
        If this is not intended, change the mapping of the user groups whose data is elsewhere.
      </div>
    )
  if (kind === 'mapped_twice')
    return (
      <div className={classes.advice}>
        The mapping also has the provided id of this schema. Remove one of the two entries.
      </div>
    )
  const { hasSchema, meant } = faultOf(finding, registry)
  const noun = hasSchema ? 'data source' : 'schema'
  return (
    <div className={classes.advice}>
      {registry !== undefined &&
        (hasSchema ? 'The schema has no such data source. ' : 'There is no such schema. ')}
      {meant !== undefined && <>Did you mean “{meant}”? </>}
      Correct the mapping, or{' '}
      <TextLink
        to="/data-sources"
        search={hasSchema ? { schema, data_source } : { schema }}
        size="sm"
        underline="always"
      >
        register the {noun}
      </TextLink>
      .
    </div>
  )
}

/** Explains which part of the entry is not registered, and suggests the intended one. */
function faultOf({ schema: schemaKey, data_source: key }: Finding, registry: Registry | undefined) {
  if (registry === undefined) return { hasSchema: false, meant: undefined }
  const { schema, ofSchema } = resolve(registry, schemaKey, key)
  const hasSchema = schema !== undefined
  const words = (hasSchema ? ofSchema : registry.schemas).map(({ provided_id }) => provided_id)
  return { hasSchema, meant: nearest(words, hasSchema ? key : schemaKey) }
}
