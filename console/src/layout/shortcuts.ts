import { useEffect } from 'react'

const setting = 'console-slash-shortcut'

/** Single-key shortcuts can be turned off, because speech input and screen readers may type such a key (WCAG 2.2, 2.1.4). */
export const isSlashOn = (): boolean => localStorage.getItem(setting) !== 'off'

export function turnSlash(state: 'on' | 'off'): void {
  if (state === 'on') localStorage.removeItem(setting)
  else localStorage.setItem(setting, state)
}

/** Focuses the search of the page. Returns false if the page has none. */
export function focusSearch(): boolean {
  const search = document.querySelector<HTMLInputElement>('[data-search]')
  search?.focus()
  search?.select()
  return search !== null
}

const editable = 'input, textarea, select, [contenteditable="true"]'

/** Handles Ctrl+K (on a Mac, Command+K) for the menu and `/` for the search. */
export function useShortcuts(openMenu: () => void): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const { key, ctrlKey, metaKey, altKey, target } = event
      const isMenu = (ctrlKey || metaKey) && !altKey && key.toLowerCase() === 'k'
      const isTyping = target instanceof Element && target.matches(editable)
      const isSearch = key === '/' && !ctrlKey && !metaKey && !altKey && !isTyping && isSlashOn()
      if ((!isMenu && !isSearch) || document.querySelector('[role=dialog]') !== null) return
      event.preventDefault()
      if (isMenu || !focusSearch()) openMenu()
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [openMenu])
}
