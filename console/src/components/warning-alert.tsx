import { Alert } from '@mantine/core'
import { IconAlertTriangle } from './icons.tsx'
import type { ReactNode } from 'react'

interface Props {
  readonly title: string
  readonly children: ReactNode
  /** `alert` if it appears without a user action. Otherwise a region with this name. */
  readonly role?: 'alert' | 'region'
}

/** Shows a warning that is not an error. */
export function WarningAlert({ title, children, role = 'region' }: Props) {
  return (
    <Alert
      color="orange"
      icon={<IconAlertTriangle aria-hidden color="var(--console-bad)" />}
      title={title}
      role={role}
      bg="var(--console-warning)"
      bd="1px solid var(--console-warning-border)"
    >
      {children}
    </Alert>
  )
}
