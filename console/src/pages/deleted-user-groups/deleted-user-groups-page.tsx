import { Button, Group, Paper, Text } from '@mantine/core'
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { ActionButton } from '../../components/action-button.tsx'
import { getAdmin } from '../../api/request.ts'
import { restoreDeleted } from '../../api/user-groups.ts'
import { ApiError } from '../../api/errors.ts'
import type { Wire } from '../../api/wire.ts'
import { Author } from '../../components/author.tsx'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { CustomerText, visibleText } from '../../components/customer-text.tsx'
import { columnsOf, DataTable } from '../../components/data-table.tsx'
import { TextLink } from '../../components/links.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { EmptyState, ErrorState, LoadingState } from '../../components/states.tsx'
import { Time } from '../../components/time.tsx'
import { announce } from '../../components/toast.tsx'
import { Allowed } from '../../session/permissions.tsx'

type Deleted = Wire['DeletedUserGroupListResponse']['user_groups'][number]

const keptForMs = 30 * 24 * 3600 * 1000

const columnsWith = (onRestore: (deleted: Deleted) => void) =>
  columnsOf<Deleted>((column) => [
    column.accessor('name', {
      header: 'Name',
      cell: ({ getValue }) => <CustomerText>{getValue()}</CustomerText>,
    }),
    column.accessor('provided_id', {
      header: 'Id',
      cell: ({ getValue }) => (
        <Text span size="xs" ff="monospace">
          <CustomerText>{getValue()}</CustomerText>
        </Text>
      ),
    }),
    column.accessor('deleted_at', {
      header: 'Deleted',
      cell: ({ getValue }) => <Time value={getValue()} as="age" />,
    }),
    column.accessor('deleted_by', { header: 'By', cell: ({ getValue }) => <Author value={getValue()} /> }),
    column.display({
      id: 'until',
      header: 'Kept until',
      cell: ({ row: { original } }) => (
        <Time value={new Date(Date.parse(original.deleted_at) + keptForMs).toISOString()} />
      ),
    }),
    column.display({
      id: 'restore',
      header: '',
      cell: ({ row: { original } }) => (
        <Allowed to="restoreDeletedUserGroup">
          <Button
            size="compact-sm"
            variant="default"
            onClick={() => onRestore(original)}
            aria-label={`Restore ${visibleText(original.name)}`}
          >
            Restore
          </Button>
        </Allowed>
      ),
    }),
  ])

export function DeletedUserGroupsPage() {
  const [chosen, setChosen] = useState<Deleted>()
  return (
    <>
      <PageHeader
        title="Deleted user groups"
        description="What was deleted is kept for 30 days. Restored, it is as it was, and its token works again."
        actions={
          <TextLink to="/user-groups" size="sm">
            Back to the user groups
          </TextLink>
        }
      />
      <DeletedList onRestore={setChosen} />
      {chosen !== undefined && <RestoreDialog deleted={chosen} onClose={() => setChosen(undefined)} />}
    </>
  )
}

function DeletedList({ onRestore }: { readonly onRestore: (deleted: Deleted) => void }) {
  const columns = useMemo(() => columnsWith(onRestore), [onRestore])
  const { data, error, isPending, isError, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } =
    useInfiniteQuery({
      queryKey: ['user-groups', 'deleted'],
      queryFn: ({ pageParam, signal }) =>
        getAdmin<Wire['DeletedUserGroupListResponse']>('/deleted-user-groups', {
          query: { cursor: pageParam },
          signal,
        }),
      initialPageParam: undefined as string | undefined,
      getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
    })
  const rows = data?.pages.flatMap(({ user_groups }) => user_groups) ?? []
  return (
    <Paper withBorder p="md">
      {isPending && <LoadingState label="Loading deleted user groups" />}
      {isError && (
        <ErrorState
          error={error}
          title="The deleted user groups cannot be listed"
          onRetry={() => void refetch()}
        />
      )}
      {data !== undefined && rows.length === 0 && (
        <EmptyState title="Nothing was deleted in the last 30 days" />
      )}
      {rows.length > 0 && (
        <DataTable
          label="Deleted user groups"
          columns={columns}
          rows={rows}
          rowId={({ team_id }) => String(team_id)}
        />
      )}
      {hasNextPage && (
        <Group justify="flex-end" pt="sm">
          <ActionButton
            size="xs"
            variant="default"
            pending={isFetchingNextPage}
            onClick={() => void fetchNextPage()}
          >
            Load more
          </ActionButton>
        </Group>
      )}
    </Paper>
  )
}

function RestoreDialog({ deleted, onClose }: { readonly deleted: Deleted; readonly onClose: () => void }) {
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => restoreDeleted(queryClient, deleted.team_id),
    onSuccess: async ({ team_id, name }) => {
      await navigate({ to: '/user-groups/$teamId', params: { teamId: String(team_id) } })
      announce({ title: 'Restored', message: `${name} is back, and its token works again.` })
    },
  })
  const isTaken = error instanceof ApiError && error.code === 'already_exists'
  return (
    <ConfirmDialog
      title={`Restore ${deleted.name}?`}
      action="Restore"
      pending={isPending}
      error={error}
      onConfirm={mutate}
      onClose={onClose}
    >
      <Text size="sm">
        It gets its previous state. Its current token works again at once, and so do dashboards that still
        have it. Tokens that were replaced before stay invalid.
      </Text>
      {isTaken && (
        <Text size="sm">
          A new user group has taken this id.{' '}
          <TextLink to="/user-groups" search={{ text: deleted.provided_id }} size="sm">
            Look at it
          </TextLink>
          , and delete it first if it is not needed.
        </Text>
      )}
    </ConfirmDialog>
  )
}
