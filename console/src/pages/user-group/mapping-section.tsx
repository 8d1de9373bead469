import { Group, Stack, Text } from '@mantine/core'
import { IconAlertTriangle, IconCircleCheck } from '../../components/icons.tsx'
import { useMemo } from 'react'
import { useRegistry } from '../../api/queries.ts'
import type { Registry } from '../../api/registry.ts'
import type { Viewed } from '../../api/user-groups.ts'
import { CustomerText, visibleText } from '../../components/customer-text.tsx'
import { columnsOf, DataTable } from '../../components/data-table.tsx'
import { TextLink } from '../../components/links.tsx'
import { Section } from '../../components/section.tsx'
import { EmptyState } from '../../components/states.tsx'
import { Allowed } from '../../session/permissions.tsx'
import { faultOf, type Entry } from './diagnosis.ts'

const columnsWith = (registry: Registry | undefined, teamId: string) =>
  columnsOf<Entry>((column) => [
    column.accessor('schema', {
      header: 'Schema',
      cell: ({ getValue }) => <CustomerText>{getValue()}</CustomerText>,
    }),
    column.accessor('data_source', {
      header: 'Data source',
      cell: ({ getValue }) => <CustomerText>{getValue()}</CustomerText>,
    }),
    column.display({
      id: 'names',
      header: 'Names',
      cell: ({ row: { original } }) => <Named entry={original} registry={registry} teamId={teamId} />,
    }),
  ])

export function MappingSection({ viewed }: { readonly viewed: Viewed }) {
  const registry = useRegistry()
  const teamId = String(viewed.user_group.team_id)
  const columns = useMemo(() => columnsWith(registry, teamId), [registry, teamId])
  return (
    <Section
      title="Mapping"
      description="Where its data is: for each schema, a data source."
      actions={
        <Allowed to="patchUserGroup">
          <TextLink to="/user-groups/$teamId/edit" params={{ teamId }} size="sm">
            Edit
          </TextLink>
        </Allowed>
      }
    >
      {viewed.data_sources.length === 0 ? (
        <EmptyState title="It has no mapping" />
      ) : (
        <DataTable
          label="Mapping"
          columns={columns}
          rows={viewed.data_sources}
          rowId={({ schema }) => schema}
        />
      )}
    </Section>
  )
}

interface NamedProps {
  readonly entry: Entry
  readonly registry: Registry | undefined
  readonly teamId: string
}

function Named({ entry, registry, teamId }: NamedProps) {
  if (entry.registered !== null) {
    const { id, provided_id, name } = entry.registered
    return (
      <Group gap={6} wrap="nowrap" align="flex-start">
        <IconCircleCheck size={16} aria-hidden color="var(--console-good)" />
        <Text span size="sm">
          <CustomerText>{name}</CustomerText>{' '}
          <Text span size="xs" c="dimmed">
            <CustomerText>{provided_id}</CustomerText>, id {id}
          </Text>
        </Text>
      </Group>
    )
  }
  const fault = faultOf(entry, registry)
  if (fault === undefined) {
    return (
      <Text span size="sm" c="dimmed">
        {registry === undefined ? '…' : 'Passed on unchanged: no schema is registered'}
      </Text>
    )
  }
  return (
    <Group gap={6} wrap="nowrap" align="flex-start">
      <IconAlertTriangle size={16} aria-hidden color="var(--console-bad)" />
      <Stack gap={2}>
        <Text span size="sm" fw={600}>
          {visibleText(fault.text)}
        </Text>
        <Text span size="xs">
          {fault.meant !== undefined && <>Did you mean “{visibleText(fault.meant)}”? </>}
          <Allowed to="patchUserGroup">
            <TextLink to="/user-groups/$teamId/edit" params={{ teamId }} size="xs" underline="always">
              Change the entry
            </TextLink>
            <Allowed to="createDataSource">
              , or register it in{' '}
              <TextLink to="/data-sources" size="xs" underline="always">
                Data sources
              </TextLink>
            </Allowed>
            .
          </Allowed>
        </Text>
      </Stack>
    </Group>
  )
}
