import { Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { postAdmin } from '../../api/request.ts'
import type { Wire } from '../../api/wire.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { countOf } from '../../components/counts.tsx'
import type { PromotionResult } from './outcomes.ts'

interface Props {
  readonly promoted: readonly PromotionResult[]
  readonly onDone: (results: readonly PromotionResult[]) => void
  readonly onClose: () => void
}

export function PromoteDialog({ promoted, onDone, onClose }: Props) {
  const { mutate, isPending, error } = useMutation({
    mutationFn: () =>
      postAdmin<Wire['PromotionResponse']>('/promotions', {
        body: { user_group_ids: promoted.map(({ provided_id }) => provided_id) },
      }),
    onSuccess: ({ results }) => {
      onClose()
      onDone(results)
    },
  })
  const created = promoted.filter(({ outcome }) => outcome === 'created').length
  const updated = promoted.length - created
  return (
    <ConfirmDialog
      opened
      title={`Promote ${countOf(promoted.length, 'user group')} to Customer?`}
      action="Promote"
      pending={isPending}
      error={error}
      onConfirm={mutate}
      onClose={onClose}
    >
      {created > 0 && (
        <Text size="sm">
          {countOf(created, 'user group')} will be new in Customer, each with its own token.
        </Text>
      )}
      {updated > 0 && (
        <Text size="sm">
          {countOf(updated, 'user group')} will change. Their tokens stay, and their dashboards show the new
          data the next time they are loaded. You can undo it in the history of each.
        </Text>
      )}
      <Text size="sm">Promotion copies the state of Testing at that moment.</Text>
    </ConfirmDialog>
  )
}
