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
  const stopped = promoted.filter(({ suspended }) => suspended.in_customer).length
  const resumed = promoted.filter(
    ({ suspended: { in_testing, in_customer } }) => in_testing && !in_customer,
  ).length
  const unresolved = promoted.filter(({ unresolved_entries: count }) => count > 0).length
  return (
    <ConfirmDialog
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
      {resumed > 0 && (
        <Text size="sm">
          {countOf(resumed, 'user group is', 'user groups are')} suspended in Testing. Suspensions are not
          copied, so the dashboards work in Customer.
        </Text>
      )}
      {stopped > 0 && (
        <Text size="sm">
          {countOf(stopped, 'user group stays', 'user groups stay')} suspended in Customer.
        </Text>
      )}
      {unresolved > 0 && (
        <Text size="sm">
          {countOf(unresolved, 'user group has', 'user groups have')} mapping entries that are not registered
          in Customer. Their dashboards find no data there.
        </Text>
      )}
      <Text size="sm">Promotion copies the state of Testing at that moment.</Text>
    </ConfirmDialog>
  )
}
