import { Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { postAdmin } from '../../api/request.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { CustomerText, visibleText } from '../../components/customer-text.tsx'
import { useSession } from '../../session/store.ts'
import type { Leaked } from './assessment.ts'

interface Props {
  readonly token: string
  readonly leaked: Leaked
  readonly onStopped: (leaked: Leaked) => void
  readonly onClose: () => void
}

export function StopDialog({ token, leaked, onStopped, onClose }: Props) {
  const queryClient = useQueryClient()
  const { mutate, isPending, error } = useMutation({
    gcTime: 0,
    mutationFn: async () => {
      onStopped(await postAdmin<Leaked>('/leaked-tokens', { body: { token, rotate: true } }))
    },
    onSuccess: async () => {
      onClose()
      await Promise.all(
        [['user-groups'], ['user-group'], ['api-tokens']].map((queryKey) =>
          queryClient.invalidateQueries({ queryKey }),
        ),
      )
    },
  })
  return (
    <ConfirmDialog
      title="Stop this token?"
      action="Stop it"
      destructive
      pending={isPending}
      error={error}
      onConfirm={mutate}
      onClose={onClose}
    >
      <Consequences leaked={leaked} />
    </ConfirmDialog>
  )
}

function Consequences({ leaked }: Pick<Props, 'leaked'>) {
  const { api_token: own } = useSession()
  const { user_group: userGroup, valid_until: validUntil, api_token: apiToken } = leaked
  if (leaked.kind === 'viewer_session')
    return (
      <Text size="sm">
        All sessions of the viewer <CustomerText>{leaked.viewer_id ?? ''}</CustomerText> end at once. Your
        backend can create new ones.
      </Text>
    )
  if (apiToken !== undefined) {
    return (
      <>
        <Text size="sm">
          The API token {apiToken.name} is revoked permanently. From then on, the service refuses every
          program that uses it.
        </Text>
        {apiToken.id === own?.id && (
          <Text size="sm" fw={600}>
            You are signed in with it, and will be signed out.
          </Text>
        )}
      </>
    )
  }
  const name = visibleText(userGroup?.name ?? '')
  return (
    <Text size="sm">
      {typeof validUntil === 'string'
        ? `It stops at once instead of at the end of its grace period. The current token of ${name} still works; only dashboards that were opened with the old one stop.`
        : `It stops at once, and ${name} gets another token. Embedded dashboards that were opened with this one stop and must be reloaded. Your backend gets the new token with its next request.`}
    </Text>
  )
}
