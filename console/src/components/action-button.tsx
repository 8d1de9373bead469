import { Button, Loader, type ButtonProps } from '@mantine/core'
import type { ComponentProps } from 'react'

interface Props extends Omit<ButtonProps, 'loading'>, Omit<ComponentProps<'button'>, keyof ButtonProps> {
  readonly pending: boolean
}

/** A button that ignores clicks while its action runs. It stays enabled, because a disabled button loses the focus. */
export function ActionButton({ pending, leftSection, onClick, ...props }: Props) {
  return (
    <Button
      {...props}
      leftSection={pending ? <Loader size={14} color="currentColor" aria-hidden /> : leftSection}
      {...(pending && { 'aria-disabled': true })}
      onClick={pending ? (event) => event.preventDefault() : onClick}
    />
  )
}
