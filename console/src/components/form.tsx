import { Button, Group, Stack } from '@mantine/core'
import { useLayoutEffect, useRef, type ReactNode } from 'react'
import { ActionButton } from './action-button.tsx'
import classes from './form.module.css'
import { ErrorAlert } from './states.tsx'

export interface FormProps {
  readonly children?: ReactNode
  /** Label of the button that submits the form. */
  readonly action: string
  readonly destructive?: boolean
  /** True if the form cannot be submitted yet. */
  readonly isDisabled?: boolean
  readonly pending: boolean
  /** Error of the last attempt. Null if there is none. */
  readonly error: unknown
  /** Title of the error. */
  readonly failure: string
  /** Replaces the error. */
  readonly problem?: ReactNode
  readonly onSubmit: () => void
  readonly onCancel?: () => void
  /** Place of the buttons. `bar`: in reach however long the form is. Default: `start`. */
  readonly buttons?: 'start' | 'end' | 'bar' | 'wide'
  /** True if the first focus is on the button that cancels. */
  readonly isCautious?: boolean
  /** Text next to the buttons. */
  readonly note?: ReactNode
}

/**
 * A form. After a failed attempt, the error is next to the button that submits it, and the first invalid field has the focus, or else the
 * error.
 */
export function Form({ children, problem, buttons = 'start', note, ...props }: FormProps) {
  const { action, destructive, isDisabled, pending, error, failure, onSubmit, onCancel, isCautious } = props
  const { form, summary, submit } = useFocus(error)
  const cancel = onCancel !== undefined && (
    <Button
      variant="default"
      onClick={onCancel}
      {...(pending && { disabled: true })}
      {...(isCautious && { 'data-autofocus': true })}
    >
      Cancel
    </Button>
  )
  return (
    <form
      ref={form}
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        if (!pending) onSubmit()
      }}
    >
      <Stack gap="md">
        {children}
        <Stack gap="sm" className={buttons === 'bar' ? (classes.bar ?? '') : ''}>
          {error !== null && (
            <div ref={summary} tabIndex={-1} className={classes.summary}>
              {problem ?? <ErrorAlert error={error} title={failure} />}
            </div>
          )}
          <Group gap="xs" justify={buttons === 'end' ? 'flex-end' : 'flex-start'}>
            {buttons === 'end' && cancel}
            <ActionButton
              ref={submit}
              type="submit"
              pending={pending}
              disabled={isDisabled === true}
              fullWidth={buttons === 'wide'}
              {...(destructive === true && { color: 'red.9' })}
            >
              {action}
            </ActionButton>
            {buttons !== 'end' && cancel}
            {note}
          </Group>
        </Stack>
      </Stack>
    </form>
  )
}

function useFocus(error: unknown) {
  const form = useRef<HTMLFormElement>(null)
  const summary = useRef<HTMLDivElement>(null)
  const submit = useRef<HTMLButtonElement>(null)
  const wasShown = useRef(false)
  useLayoutEffect(() => {
    const isShown = error !== null
    if (isShown) {
      const target = form.current?.querySelector<HTMLElement>('[aria-invalid="true"]') ?? summary.current
      target?.scrollIntoView({ block: 'center' })
      target?.focus({ preventScroll: true })
    } else if (wasShown.current && document.activeElement === document.body) {
      // The focus was in the error.
      submit.current?.focus()
    }
    wasShown.current = isShown
  }, [error])
  return { form, summary, submit }
}
