import { Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { postAdmin } from '../../api/request.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { announce } from '../../components/toast.tsx'
import { useSession } from '../../session/store.ts'
import type { ApiToken } from './api-token.ts'

interface Props {
  readonly apiToken: ApiToken
  readonly onClose: () => void
}

export function RevokeDialog({ apiToken: { id, name, scopes }, onClose }: Props) {
  const queryClient = useQueryClient()
  const { api_token: own } = useSession()
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => postAdmin(`/api-tokens/${id}/revoke`),
    onSuccess: async () => {
      announce({ title: 'Revoked', message: `The API token ${name} stops within a second or so.` })
      onClose()
      await queryClient.invalidateQueries({ queryKey: ['api-tokens'] })
    },
  })
  return (
    <ConfirmDialog
      title={`Revoke the API token ${name}?`}
      action="Revoke permanently"
      destructive
      pending={isPending}
      error={error}
      onConfirm={mutate}
      onClose={onClose}
    >
      <Text size="sm">
        From then on, the service refuses every program that uses it. This cannot be undone. Create another
        API token first if a program needs one.
      </Text>
      {scopes.includes('introspect') && (
        <Text size="sm">
          It has the scope introspect: a renderer that uses it shows no dashboards any more.
        </Text>
      )}
      {scopes.includes('write') && (
        <Text size="sm">
          It has the scope write: a backend that uses it gets no user group tokens any more.
        </Text>
      )}
      {id === own?.id && (
        <Text size="sm" fw={600}>
          You are signed in with it, and will be signed out.
        </Text>
      )}
    </ConfirmDialog>
  )
}
