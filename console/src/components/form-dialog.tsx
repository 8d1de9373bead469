import { Button, Group, Modal, Stack } from '@mantine/core'
import { useEffect, useRef, type ReactNode } from 'react'
import { useFocusReturn } from './confirm-dialog.tsx'
import { ErrorAlert } from './states.tsx'

interface Props {
  readonly title: string
  readonly children: ReactNode
  /** What the button says: what is done. */
  readonly action: string
  readonly pending: boolean
  /** How it failed. */
  readonly failure: unknown
  /** The same, where no field tells it. */
  readonly error?: unknown
  readonly onSubmit: () => void
  readonly onClose: () => void
}

/** A short form in a dialog; it is open as long as it is there. The focus returns to where it was. */
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
