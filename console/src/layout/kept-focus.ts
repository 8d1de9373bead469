import { useEffect } from 'react'

/** Moves the focus to the dialog or the heading of the page when the focused element is removed or disabled. */
export function useKeptFocus(): void {
  useEffect(() => {
    let last: Element | undefined
    const isThere = () => last?.isConnected === true && !last.matches(':disabled')
    const onFocus = ({ target }: FocusEvent) => {
      if (target instanceof Element) last = target
    }
    const onBlur = () => {
      // A click beside all elements takes the focus on purpose.
      setTimeout(() => {
        if (document.activeElement === document.body && isThere()) last = undefined
      })
    }
    const observer = new MutationObserver(() => {
      if (document.activeElement !== document.body || last === undefined || isThere()) return
      const dialog = [...document.querySelectorAll<HTMLElement>('[role=dialog]')].at(-1)
      ;(dialog ?? document.querySelector<HTMLElement>('h1'))?.focus({ preventScroll: true })
    })
    observer.observe(document.body, { childList: true, subtree: true, attributeFilter: ['disabled'] })
    document.addEventListener('focusin', onFocus)
    document.addEventListener('focusout', onBlur)
    return () => {
      observer.disconnect()
      document.removeEventListener('focusin', onFocus)
      document.removeEventListener('focusout', onBlur)
    }
  }, [])
}
