import { ActionIcon, Autocomplete, Button, Group, Stack, Text } from '@mantine/core'
import { CustomerText, visibleText } from '../../components/customer-text.tsx'
import { IconPlus, IconX } from '../../components/icons.tsx'
import { ApiError, type FieldFault } from '../../api/errors.ts'
import { memo } from 'react'
import { useRegistry } from '../../api/queries.ts'
import { nearest, resolve, type Registry } from '../../api/registry.ts'
import { isUsed } from './diagnosis.ts'
import { newRow, pointerOf, type Row } from './draft.ts'
import classes from './mapping-fields.module.css'

interface Props {
  readonly rows: readonly Row[]
  readonly onChange: (changes: { readonly rows: readonly Row[] }) => void
  /** Error of the last attempt to save. */
  readonly error: unknown
}

function PlainMappingFields({ rows, onChange, error }: Props) {
  const faults = error instanceof ApiError ? error.fields : []
  const changeTo = (changed: readonly Row[]) => onChange({ rows: changed })
  const registry = useRegistry() ?? { schemas: [], dataSources: [], isWhole: false }
  const ofRow = ({ schema }: Row) => faults.filter(({ path }) => path === pointerOf(schema))
  return (
    <Stack gap="sm">
      {rows.length === 0 && (
        <Text size="sm" c="dimmed">
          No entries: its dashboards have no data source.
        </Text>
      )}
      {rows.map((row, i) => (
        <MappingRow
          key={row.id}
          row={row}
          number={i + 1}
          registry={registry}
          faults={ofRow(row)}
          onChange={(changed) => changeTo(rows.map((known) => (known.id === row.id ? changed : known)))}
          onRemove={() => changeTo(rows.filter(({ id }) => id !== row.id))}
        />
      ))}
      <Group>
        <Button
          variant="default"
          size="xs"
          leftSection={<IconPlus size={14} aria-hidden />}
          onClick={() => changeTo([...rows, newRow()])}
        >
          Add an entry
        </Button>
      </Group>
    </Stack>
  )
}

/** Rendered again only if the mapping changes, not with each key in another field. */
export const MappingFields = memo(PlainMappingFields)

interface RowProps {
  readonly row: Row
  readonly number: number
  readonly registry: Registry
  readonly faults: readonly FieldFault[]
  readonly onChange: (row: Row) => void
  readonly onRemove: () => void
}

function MappingRow({ row, number, registry, faults, onChange, onRemove }: RowProps) {
  const { schema, dataSource, ofSchema } = resolve(registry, row.schema, row.dataSource)
  const isKnown = schema === undefined || registry.isWhole
  const isFilled = row.schema !== '' && row.dataSource !== ''
  const isUnregistered = dataSource === undefined && isUsed(registry) && isKnown && isFilled
  const message = faults.map((fault) => fault.message).join(' ')
  return (
    <fieldset className={classes.row}>
      <legend className={classes.legend}>Entry {number}</legend>
      <Autocomplete
        label="Schema"
        size="sm"
        limit={50}
        value={row.schema}
        data={unique(registry.schemas)}
        onChange={(value) => onChange({ ...row, schema: value })}
        error={message || undefined}
        maxLength={255}
        className={classes.field ?? ''}
      />
      <Autocomplete
        label="Data source"
        size="sm"
        limit={50}
        value={row.dataSource}
        data={unique(ofSchema)}
        onChange={(value) => onChange({ ...row, dataSource: value })}
        maxLength={255}
        className={classes.field ?? ''}
      />
      <ActionIcon
        variant="default"
        size={36}
        mt={24}
        onClick={onRemove}
        aria-label={`Remove the entry ${row.schema === '' ? number : visibleText(row.schema)}`}
      >
        <IconX size={16} aria-hidden />
      </ActionIcon>
      <div className={classes.note} aria-live="polite">
        {dataSource !== undefined && (
          <Text size="xs" c="dimmed">
            Names <CustomerText>{dataSource.name}</CustomerText>
          </Text>
        )}
        {isUnregistered && (
          <Unregistered row={row} hasSchema={schema !== undefined} registry={registry} onChange={onChange} />
        )}
      </div>
    </fieldset>
  )
}

interface UnregisteredProps extends Pick<RowProps, 'row' | 'registry' | 'onChange'> {
  readonly hasSchema: boolean
}

function Unregistered({ row, hasSchema, registry, onChange }: UnregisteredProps) {
  const { ofSchema } = resolve(registry, row.schema, row.dataSource)
  const meant = hasSchema
    ? nearest(unique(ofSchema), row.dataSource)
    : nearest(unique(registry.schemas), row.schema)
  return (
    <Group gap="xs">
      <Text size="xs" c="var(--console-bad)">
        {hasSchema ? 'Names no registered data source of this schema.' : 'Names no registered schema.'}
      </Text>
      {meant !== undefined && (
        <Button
          size="compact-xs"
          variant="light"
          onClick={() => onChange(hasSchema ? { ...row, dataSource: meant } : { ...row, schema: meant })}
        >
          Use “{visibleText(meant)}”
        </Button>
      )}
    </Group>
  )
}

const unique = (registered: readonly { provided_id: string }[]) => [
  ...new Set(registered.map(({ provided_id }) => provided_id)),
]
