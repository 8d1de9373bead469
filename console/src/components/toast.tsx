import { ActionIcon, Group, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useLocation } from '@tanstack/react-router'
import { useEffect, useSyncExternalStore } from 'react'
import { ActionButton } from './action-button.tsx'
import { visibleText } from './customer-text.tsx'
import { IconAlertTriangle, IconCircleCheck, IconX } from './icons.tsx'
import classes from './toast.module.css'

interface Announcement {
  readonly title: string
  readonly message?: string
  readonly isError?: boolean
  /** Reverses the announced change. */
  readonly undo?: (() => Promise<unknown>) | undefined
}

let shown: (Announcement & { readonly path: string }) | undefined
const listeners = new Set<() => void>()

function show(next: typeof shown): void {
  shown = next
  for (const listener of listeners) listener()
}

/** Shows a message above the page until the user dismisses it or leaves the page, or until the next one. Navigate first. */
export function announce(announcement: Announcement): void {
  show({ ...announcement, path: location.pathname })
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** The place of the messages. It moves the page down instead of covering it. */
export function Toast() {
  const current = useSyncExternalStore(subscribe, () => shown)
  const { pathname } = useLocation()
  useEffect(() => {
    if (current !== undefined && current.path !== location.pathname) show(undefined)
  }, [current, pathname])
  useEffect(() => () => show(undefined), [])
  return (
    <div role="status" className={classes.place}>
      {current !== undefined && <Message announcement={current} />}
    </div>
  )
}

function Message({ announcement }: { readonly announcement: Announcement }) {
  const { title, message = '', isError = false, undo } = announcement
  const Icon = isError ? IconAlertTriangle : IconCircleCheck
  return (
    <div className={classes.toast} data-error={isError}>
      <Icon size={20} aria-hidden className={classes.icon ?? ''} />
      <Text size="sm" flex={1} miw={0} style={{ overflowWrap: 'anywhere' }}>
        <strong>{title}</strong> {visibleText(message)}
      </Text>
      <Group gap="xs" wrap="nowrap">
        {undo !== undefined && <UndoButton undo={undo} />}
        <ActionIcon variant="subtle" color="gray" aria-label="Dismiss" onClick={() => show(undefined)}>
          <IconX size={16} aria-hidden />
        </ActionIcon>
      </Group>
    </div>
  )
}

function UndoButton({ undo }: { readonly undo: () => Promise<unknown> }) {
  const { mutate, isPending } = useMutation({
    mutationFn: undo,
    onSuccess: () => announce({ title: 'Undone' }),
    onError: ({ message }) => announce({ isError: true, title: 'It was not undone', message }),
  })
  return (
    <ActionButton size="compact-sm" variant="default" pending={isPending} onClick={() => mutate()}>
      Undo
    </ActionButton>
  )
}
