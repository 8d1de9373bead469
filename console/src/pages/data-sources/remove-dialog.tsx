import { Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { deleteAdmin } from '../../api/request.ts'
import { ApiError } from '../../api/errors.ts'
import type { DataSource, Schema } from '../../api/registry.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { TextLink } from '../../components/links.tsx'
import { announce } from '../../components/toast.tsx'

interface Props {
  readonly schema: Schema
  /** The data source to remove. Undefined to remove the schema. */
  readonly dataSource?: DataSource
  readonly onClose: () => void
}

export function RemoveDialog({ schema, dataSource, onClose }: Props) {
  const queryClient = useQueryClient()
  const { name } = dataSource ?? schema
  const { mutate, isPending, error } = useMutation({
    mutationFn: () =>
      deleteAdmin(dataSource === undefined ? `/schemas/${schema.id}` : `/data-sources/${dataSource.id}`),
    onSuccess: async () => {
      await queryClient.invalidateQueries({
        queryKey: [dataSource === undefined ? 'schemas' : 'data-sources'],
      })
      announce({ title: 'Removed', message: `${name} is no longer registered.` })
      onClose()
    },
  })
  const isInUse = error instanceof ApiError && error.code === 'in_use'
  return (
    <ConfirmDialog
      title={`Remove ${name}?`}
      action="Remove"
      destructive
      pending={isPending}
      error={isInUse ? undefined : error}
      onConfirm={mutate}
      onClose={onClose}
    >
      {isInUse ? (
        <InUse schema={schema} dataSource={dataSource} />
      ) : (
        <Text size="sm">
          {dataSource === undefined
            ? 'Mappings that name this schema will name nothing. A schema that still has data sources stays; remove those first.'
            : 'No mapping can name it afterwards. As long as user groups are mapped to it, it stays.'}{' '}
          The data itself is not touched.
        </Text>
      )}
    </ConfirmDialog>
  )
}

function InUse({
  schema,
  dataSource,
}: {
  readonly schema: Schema
  readonly dataSource: DataSource | undefined
}) {
  if (dataSource === undefined) {
    return (
      <Text size="sm" role="alert">
        {schema.name} still has data sources, so that it stays. Remove its data sources first.
      </Text>
    )
  }
  return (
    <Text size="sm" role="alert">
      User groups are mapped to {dataSource.name}, so that it stays. Map them to another data source first.{' '}
      <TextLink
        to="/user-groups"
        search={{ schema: schema.provided_id, data_source: dataSource.provided_id }}
        size="sm"
        underline="always"
      >
        Show these user groups
      </TextLink>
    </Text>
  )
}
