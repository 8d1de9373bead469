import { TextInput } from '@mantine/core'
import { useState, type ReactNode } from 'react'
import { FormDialog } from './form-dialog.tsx'

interface Props {
  readonly title: string
  /** Consequences of the action. */
  readonly children: ReactNode
  /** Label of the button that starts the action. */
  readonly action: string
  readonly destructive?: boolean
  /** Text to type before the action can start. */
  readonly typed?: string | undefined
  readonly pending?: boolean
  readonly error?: unknown
  readonly onConfirm: () => void
  readonly onClose: () => void
}

/** Asks for confirmation before an action that affects others. */
export function ConfirmDialog({
  children,
  typed,
  pending = false,
  error = null,
  onConfirm,
  ...props
}: Props) {
  const [text, setText] = useState('')
  return (
    <FormDialog
      {...props}
      isCautious
      isDisabled={typed !== undefined && text.trim() !== typed}
      pending={pending}
      error={error}
      onSubmit={onConfirm}
    >
      {children}
      {typed !== undefined && (
        <TextInput
          label={`Type “${typed}” to confirm`}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          autoComplete="off"
          spellCheck={false}
        />
      )}
    </FormDialog>
  )
}
