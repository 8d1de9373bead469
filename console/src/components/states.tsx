import { Alert, Button, Center, Code, Group, Loader, Skeleton, Stack, Text } from '@mantine/core'
import { IconAlertTriangle } from './icons.tsx'
import type { ReactNode } from 'react'
import { ApiError } from '../api/errors.ts'
import { CopyButton } from './copy-button.tsx'

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

interface ErrorProps {
  readonly error: unknown
  readonly title: string
  readonly children?: ReactNode
}

/** Shows the error of an action next to it. */
export function ErrorAlert({ error, title, children }: ErrorProps) {
  const requestId = error instanceof ApiError ? error.requestId : undefined
  return (
    <Alert color="red" icon={<IconAlertTriangle aria-hidden />} title={title} role="alert">
      <Stack gap="xs">
        <Text size="sm">{messageOf(error)}</Text>
        {requestId !== undefined && (
          <Group gap={6}>
            <Text size="xs">
              Request id <Code>{requestId}</Code>
            </Text>
            <CopyButton value={requestId} label="Copy the request id" size="xs" />
          </Group>
        )}
        {children}
      </Stack>
    </Alert>
  )
}

/** Replaces content that could not be loaded. */
export function ErrorState({ onRetry, children, ...props }: ErrorProps & { readonly onRetry: () => void }) {
  return (
    <ErrorAlert {...props}>
      {children}
      <Group>
        <Button size="xs" variant="default" onClick={onRetry}>
          Try again
        </Button>
      </Group>
    </ErrorAlert>
  )
}

interface NotShownProps {
  readonly error: Error
  /** For example "user group". */
  readonly name: string
  readonly onRetry: () => void
  /** Hint for an object that does not exist. */
  readonly children: ReactNode
}

/** Replaces a page whose object does not exist or could not be loaded. */
export function NotShownState({ error, name, onRetry, children }: NotShownProps) {
  const isMissing = error instanceof ApiError && error.status === 404
  return (
    <ErrorState
      error={error}
      title={isMissing ? `There is no such ${name}` : `The ${name} cannot be shown`}
      onRetry={onRetry}
    >
      {isMissing && <Text size="sm">{children}</Text>}
    </ErrorState>
  )
}

interface EmptyProps {
  readonly title: string
  readonly children?: ReactNode
  readonly action?: ReactNode
}

/** Replaces an empty list. */
export function EmptyState({ title, children, action }: EmptyProps) {
  return (
    <Center py="xl" px="md">
      <Stack gap="xs" align="center" maw={460}>
        <Text fw={600} ta="center">
          {title}
        </Text>
        {children !== undefined && (
          <Text size="sm" c="dimmed" ta="center" component="div">
            {children}
          </Text>
        )}
        {action}
      </Stack>
    </Center>
  )
}

/** Placeholder as high as the content, so that the layout does not shift. */
export function LoadingState({
  lines = 6,
  label = 'Loading',
}: {
  readonly lines?: number
  readonly label?: string
}) {
  return (
    <Stack gap="sm" role="status" aria-label={label} py="xs">
      {Array.from({ length: lines }, (_, line) => (
        <Skeleton key={line} h={28} />
      ))}
    </Stack>
  )
}

/** Shows that something is loading, without shifting the layout. */
export function Working({ children }: { readonly children: ReactNode }) {
  return (
    <Group gap="xs" role="status">
      <Loader size="xs" aria-hidden />
      <Text size="sm">{children}</Text>
    </Group>
  )
}
