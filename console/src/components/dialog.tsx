import { Modal, type ModalProps } from '@mantine/core'
import { useLayoutEffect, useState } from 'react'
import { visibleText } from './customer-text.tsx'

interface Props extends Omit<ModalProps, 'opened' | 'returnFocus' | 'title'> {
  readonly title: string
}

/** A dialog, open while mounted. Afterwards, the element that opened it has the focus. */
export function Dialog({ title, ...props }: Props) {
  useFocusReturn()
  return <Modal opened returnFocus={false} centered title={visibleText(title)} {...props} />
}

let opener: HTMLElement | undefined

/** Returns the focus to the element that opened the dialog, or the first of several in a row. If it is gone, to the heading of the page. */
function useFocusReturn(): void {
  useState(() => {
    const active = document.activeElement
    if (!(active instanceof HTMLElement) || active.closest('[role=dialog]') !== null) return
    // The item of a menu is gone once the menu is closed, its button stays.
    const button = active.closest('[role=menu]')?.getAttribute('aria-labelledby') ?? ''
    opener = document.getElementById(button) ?? active
  })
  useLayoutEffect(
    () => () => {
      const isThere = opener?.isConnected === true && opener !== document.body
      ;(isThere ? opener : document.querySelector<HTMLElement>('h1'))?.focus({ preventScroll: true })
    },
    [],
  )
}
