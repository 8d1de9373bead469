import { Alert } from '@mantine/core'
import { IconAlertTriangle } from './icons.tsx'
import type { ReactNode } from 'react'

interface Props {
  readonly title: string
  readonly children: ReactNode
  /** `alert` where it appears unasked; else it is a part of the page with this name. */
  readonly role?: 'alert' | 'region'
}

/** Something that is to be looked at, and did not fail. */
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
