import { Button, Group, Modal, Stack } from '@mantine/core'
import { useEffect, useRef, type ReactNode } from 'react'
import { useFocusReturn } from './confirm-dialog.tsx'
import { ErrorAlert } from './states.tsx'

interface Props {
  readonly title: string
  readonly children: ReactNode
  /** Label of the button that submits the form. */
  readonly action: string
  readonly pending: boolean
  /** Error of the request. */
  readonly failure: unknown
  /** Error to show if no field shows it. */
  readonly error?: unknown
  readonly onSubmit: () => void
  readonly onClose: () => void
}

/** A dialog with a short form, open while mounted. Returns the focus afterwards. */
export function FormDialog(props: Props) {
  const { title, children, action, pending, failure, error, onSubmit, onClose } = props
  const form = useRef<HTMLFormElement>(null)
  useFocusReturn()
  useEffect(() => {
    if (failure !== null) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()
  }, [failure])
  return (
    <Modal opened onClose={onClose} title={title} centered closeOnClickOutside={!pending}>
      <form
        ref={form}
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          onSubmit()
        }}
      >
        <Stack gap="md">
          {children}
          {error !== undefined && error !== null && <ErrorAlert error={error} title="That did not work" />}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose} disabled={pending}>
              Cancel
            </Button>
            <Button type="submit" loading={pending}>
              {action}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}
