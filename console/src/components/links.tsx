import { Anchor, Button, type AnchorProps, type ButtonProps } from '@mantine/core'
import { createLink } from '@tanstack/react-router'
import type { ComponentPropsWithRef } from 'react'

type Native = Omit<ComponentPropsWithRef<'a'>, 'href' | keyof AnchorProps>

/** An inline link to another page of the console. */
export const TextLink = createLink((props: Omit<AnchorProps, 'href'> & Native) => <Anchor {...props} />)

type NativeButton = Omit<ComponentPropsWithRef<'a'>, 'href' | keyof ButtonProps>

/** A link to another page of the console, styled as a button. */
export const ButtonLink = createLink((props: Omit<ButtonProps, 'href'> & NativeButton) => (
  <Button component="a" {...props} />
))
