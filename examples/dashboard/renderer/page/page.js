/// <reference lib="dom" />
// The renderer's page, in the product's frame. The token is in this module's memory, and nowhere else in the browser.
import { clear, draw } from './drawing.js'

/** @typedef {import('../dashboard.js').View} View */

const refreshMs = 4000
const hostOrigin = document.documentElement.dataset.hostOrigin ?? ''

/** @type {string | undefined} */
let token
/** Of the request under way: a newer one takes its place. */
let asking = new AbortController()
/** Whether this token has opened the dashboard before. */
let hasOpened = false
/** @type {number | undefined} */
let timer

elementOf('refresh').addEventListener('click', () => void refresh())
new ResizeObserver(() => {
  tellHost({ type: 'dashboard:height', height: document.body.offsetHeight })
}).observe(document.body)

if (window.parent === window) {
  notify('blocked', 'This dashboard is part of another page', 'Open the page that it is embedded in.')
} else {
  window.addEventListener('message', (event) => {
    // Any window may send messages here: a token is taken from the page around this one alone, if that is the product's.
    if (event.origin !== hostOrigin || event.source !== window.parent) return
    const message = /** @type {{ type?: unknown, token?: unknown } | null} */ (event.data)
    if (message?.type !== 'dashboard:token' || typeof message.token !== 'string') return
    token = message.token
    hasOpened = false
    void refresh()
  })
  tellHost({ type: 'dashboard:ready' })
}

/** Asks for the view, now and from then on. Each time the renderer asks anew whose token it is. */
async function refresh() {
  window.clearTimeout(timer)
  asking.abort()
  asking = new AbortController()
  const { signal } = asking
  const answer = await ask(signal)
  if (signal.aborted) return
  if ('view' in answer) show(answer.view)
  else refuse(answer.status, answer.message)
  if (token !== undefined) timer = window.setTimeout(() => void refresh(), refreshMs)
}

/**
 * @param {AbortSignal} signal
 * @returns {Promise<{ view: View } | { status: number, message: string }>}
 */
async function ask(signal) {
  try {
    const response = await fetch('/view', { headers: { authorization: `Bearer ${token}` }, signal })
    /** @type {unknown} */
    const body = await response.json()
    if (response.ok) return { view: /** @type {View} */ (body) }
    const { error } = /** @type {{ error: { message: string } }} */ (body)
    return { status: response.status, message: error.message }
  } catch {
    return { status: 0, message: 'It cannot be reached at the moment, and tries again by itself.' }
  }
}

/** @param {View} view */
function show(view) {
  hasOpened = true
  document.body.dataset.state = view.byMonth.length > 0 ? 'shown' : 'empty'
  draw(view)
}

/**
 * @param {number} status of HTTP; 0 where there is no answer
 * @param {string} message
 */
function refuse(status, message) {
  if (status !== 401) {
    notify('failed', 'The dashboard cannot be shown', message)
    return
  }
  // It never becomes valid again: there is no use in asking on.
  token = undefined
  if (hasOpened) {
    notify(
      'refused',
      'This dashboard has stopped',
      'This dashboard was opened with a token that is no longer valid. Reload it from the page that it is embedded in.',
    )
  } else {
    notify(
      'refused',
      'This dashboard cannot be opened',
      'The token that it was opened with is not valid. Reload it from the page that it is embedded in.',
    )
  }
}

/**
 * Takes away what was drawn, and says why.
 * @param {'blocked' | 'refused' | 'failed'} state
 * @param {string} title
 * @param {string} text
 */
function notify(state, title, text) {
  clear()
  document.body.dataset.state = state
  elementOf('notice-title').textContent = title
  elementOf('notice-text').textContent = text
}

/** @param {{ type: string, height?: number }} message */
function tellHost(message) {
  if (window.parent !== window) window.parent.postMessage(message, hostOrigin)
}

/** @param {string} id */
function elementOf(id) {
  return /** @type {HTMLElement} */ (document.getElementById(id))
}
