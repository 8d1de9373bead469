import { Button, Code, Group, Modal, Stack } from '@mantine/core'
import type { ReactNode } from 'react'
import { CopyButton } from '../../components/copy-button.tsx'
import { WarningAlert } from '../../components/warning-alert.tsx'

interface Props {
  readonly title: string
  readonly token: string
  /** Additional information. */
  readonly children?: ReactNode
  readonly onClose: () => void
}

/** Shows a new API token. Keeps it only while it is shown. */
export function ShownOnce({ title, token, children, onClose }: Props) {
  return (
    <Modal
      opened
      onClose={onClose}
      title={title}
      centered
      withCloseButton={false}
      closeOnClickOutside={false}
      closeOnEscape={false}
    >
      <Stack gap="md">
        <WarningAlert title="Copy it now">It is not shown again. Store it like a password.</WarningAlert>
        <Group gap="xs" wrap="nowrap">
          <Code
            flex={1}
            p="xs"
            fz="sm"
            role="group"
            aria-label="API token"
            style={{ overflowWrap: 'anywhere' }}
          >
            {token}
          </Code>
          <CopyButton value={token} label="Copy the API token" />
        </Group>
        {children}
        <Group justify="flex-end">
          <Button onClick={onClose} data-autofocus>
            I have kept it
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
