import { Select, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { createJob, isChosen, type Filter, type JobAction, type Total } from '../../api/jobs.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { visibleText } from '../../components/customer-text.tsx'
import { gracePeriods } from '../../components/grace-periods.ts'
import { useSession } from '../../session/store.ts'
import { actionTexts, filterText, totalText } from './job-texts.ts'

/** Actions on more user groups of `Customer` are confirmed by typing their number, or the environment if it is unknown. */
const untypedAtMost = 20

export interface JobTarget {
  /** Name of the only user group. */
  readonly name?: string
  /** Undefined if it is unknown. */
  readonly total?: Total
  readonly selection: Filter | readonly number[]
}

interface Props {
  readonly action: JobAction
  readonly target: JobTarget
  readonly onStarted?: () => void
  readonly onClose: () => void
}

/** Asks, starts a job, and opens its dialog. */
export function StartJobDialog({ action, target, onStarted, onClose }: Props) {
  const { name, total, selection } = target
  const { api_environment_tag: environment } = useSession()
  const [seconds, setSeconds] = useState(0)
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const { mutate, isPending, error } = useMutation({
    mutationFn: () =>
      createJob({
        action,
        selection,
        ...(action === 'rotate' && { gracePeriodSeconds: seconds }),
      }),
    onSuccess: async ({ id }) => {
      void queryClient.invalidateQueries({ queryKey: ['jobs'] })
      onStarted?.()
      onClose()
      await navigate({ to: '.', search: (search) => ({ ...search, job: String(id) }) })
    },
  })
  const { text, label, isDestructive } = actionTexts[action]
  const isTyped =
    total !== undefined &&
    ((action === 'delete' && total.count > 1) || (environment === 'Customer' && total.count > untypedAtMost))
  const named = name ?? (total === undefined ? 'all that match' : totalText(total))
  return (
    <ConfirmDialog
      title={`${label} ${named}?`}
      action={action === 'rotate' ? 'Rotate' : label}
      destructive={isDestructive}
      typed={total === undefined ? environment : isTyped ? String(total.count) : undefined}
      pending={isPending}
      error={error}
      onConfirm={mutate}
      onClose={onClose}
    >
      {!isChosen(selection) && <Text size="sm">{visibleText(filterText(selection))}</Text>}
      <Text size="sm">{text}</Text>
      {action === 'rotate' && (
        <Select
          label="When do the old tokens stop?"
          data={gracePeriods.map((period) => ({ value: String(period.seconds), label: period.label }))}
          value={String(seconds)}
          onChange={(value) => setSeconds(Number(value))}
          allowDeselect={false}
        />
      )}
      <Text size="sm" c="dimmed">
        The service does this in the background. You can follow and cancel it.
      </Text>
    </ConfirmDialog>
  )
}
