import { Button, Group, Modal, Stack } from '@mantine/core'
import { useEffect, useState, type ReactNode } from 'react'
import { ErrorAlert } from './states.tsx'

interface Props {
  readonly opened: boolean
  readonly title: string
  /** Consequences of the action. */
  readonly children: ReactNode
  /** Label of the button that starts the action. */
  readonly action: string
  readonly destructive?: boolean
  readonly pending: boolean
  readonly error?: unknown
  readonly onConfirm: () => void
  readonly onClose: () => void
}

/** Asks for confirmation before an action that affects others. Returns the focus afterwards. */
export function ConfirmDialog(props: Props) {
  const { opened, title, children, action, destructive = false, pending, error, onConfirm, onClose } = props
  useFocusReturn()
  return (
    <Modal opened={opened} onClose={onClose} title={title} centered closeOnClickOutside={!pending}>
      <Stack gap="md">
        {children}
        {error !== undefined && error !== null && <ErrorAlert error={error} title="That did not work" />}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose} data-autofocus disabled={pending}>
            Cancel
          </Button>
          <Button onClick={onConfirm} loading={pending} {...(destructive && { color: 'red.9' })}>
            {action}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}

/** If the element that opened the dialog is gone, focus the heading of the page. */
export function useFocusReturn(): void {
  const [opener] = useState(() => document.activeElement)
  useEffect(
    () => () => {
      const target =
        opener instanceof HTMLElement && opener.isConnected ? opener : document.querySelector('h1')
      target?.focus({ preventScroll: true })
    },
    [opener],
  )
}
