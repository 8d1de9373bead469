import { Button, Code, Group, Stack } from '@mantine/core'
import type { ReactNode } from 'react'
import { CopyButton } from './copy-button.tsx'
import { Dialog } from './dialog.tsx'
import { WarningAlert } from './warning-alert.tsx'

interface Props {
  readonly title: string
  /** Noun for the value, such as "API token". */
  readonly label: string
  readonly value: string
  /** Additional information. */
  readonly children?: ReactNode
  readonly onClose: () => void
}

/** Shows a new credential. Keeps it only while it is shown. */
export function ShownOnce({ title, label, value, children, onClose }: Props) {
  return (
    <Dialog
      onClose={onClose}
      title={title}
      withCloseButton={false}
      closeOnClickOutside={false}
      closeOnEscape={false}
    >
      <Stack gap="md">
        <WarningAlert title="Copy it now">It is not shown again. Store it like a password.</WarningAlert>
        <Group gap="xs" wrap="nowrap">
          <Code flex={1} p="xs" fz="sm" role="group" aria-label={label} style={{ overflowWrap: 'anywhere' }}>
            {value}
          </Code>
          <CopyButton value={value} label={`Copy the ${label}`} />
        </Group>
        {children}
        <Group justify="flex-end">
          <Button onClick={onClose} data-autofocus>
            I have kept it
          </Button>
        </Group>
      </Stack>
    </Dialog>
  )
}
