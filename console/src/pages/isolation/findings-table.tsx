import { Badge, Button, Code, Text } from '@mantine/core'
import { numberText } from '../../components/counts.tsx'
import { CustomerText, visibleText } from '../../components/customer-text.tsx'
import { IconLinkOff, IconUsers } from '../../components/icons.tsx'
import { Fragment, useMemo, useState } from 'react'
import { useRegistry } from '../../api/queries.ts'
import { nearest, resolve, type Registry } from '../../api/registry.ts'
import { columnsOf, DataTable } from '../../components/data-table.tsx'
import { TextLink } from '../../components/links.tsx'
import { Allowed } from '../../session/permissions.tsx'
import classes from './findings-table.module.css'
import { Acceptance } from './acceptance.tsx'
import { AcceptDialog, ReopenDialog } from './acceptance-dialogs.tsx'
import { kindLabels, type Finding } from './search.ts'

type Change = (finding: Finding) => void

const columnsWith = (registry: Registry | undefined, onChange: Change) =>
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
      cell: ({ row: { original } }) => (
        <>
          <Advice finding={original} registry={registry} />
          <Acceptance finding={original} />
        </>
      ),
    }),
    column.display({
      id: 'change',
      header: '',
      cell: ({ row: { original } }) => <ChangeButton finding={original} onChange={onChange} />,
    }),
  ])

interface TableProps {
  readonly label: string
  readonly findings: readonly Finding[]
}

export function FindingsTable({ label, findings }: TableProps) {
  const registry = useRegistry()
  const [changed, setChanged] = useState<Finding>()
  const columns = useMemo(() => columnsWith(registry, setChanged), [registry])
  const Dialog = changed?.status === 'accepted' ? ReopenDialog : AcceptDialog
  return (
    <>
      <DataTable
        label={label}
        columns={columns}
        rows={findings}
        rowId={({ kind, schema, data_source }) => JSON.stringify([kind, schema, data_source])}
      />
      {changed !== undefined && <Dialog finding={changed} onClose={() => setChanged(undefined)} />}
    </>
  )
}

function ChangeButton({ finding, onChange }: { readonly finding: Finding; readonly onChange: Change }) {
  const { status, schema, data_source } = finding
  const isAccepted = status === 'accepted'
  const action = isAccepted ? 'Reopen' : 'Accept'
  return (
    <Allowed to={isAccepted ? 'reopenIsolationFinding' : 'acceptIsolationFinding'}>
      <Button
        size="compact-xs"
        variant="default"
        onClick={() => onChange(finding)}
        aria-label={`${action} ${schema} → ${data_source}`}
      >
        {action}
      </Button>
    </Allowed>
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
      {kindLabels[kind]}
    </Badge>
  )
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

function UserGroups({
  finding: { schema, data_source, user_groups: named, affected },
}: Pick<Props, 'finding'>) {
  return (
    <div className={classes.userGroups}>
      {named.map(({ team_id, provided_id, name }, i) => (
        <Fragment key={team_id}>
          {i > 0 && ', '}
          <TextLink
            to="/user-groups/$teamId"
            params={{ teamId: String(team_id) }}
            size="sm"
            title={visibleText(provided_id)}
          >
            <CustomerText>{name}</CustomerText>
          </TextLink>
        </Fragment>
      ))}
      {affected.count > named.length && (
        <>
          {`. ${numberText(affected.count)}${affected.is_exact ? '' : '+'} in all. `}
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
      Correct the mapping
      <Allowed to={hasSchema ? 'createDataSource' : 'createSchema'}>
        , or{' '}
        <TextLink
          to="/data-sources"
          search={hasSchema ? { schema, data_source } : { schema }}
          size="sm"
          underline="always"
        >
          register the {noun}
        </TextLink>
      </Allowed>
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
