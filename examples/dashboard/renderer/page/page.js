/// <reference lib="dom" />
// The renderer's page, in the product's frame. Keeps the token in memory only.
import { clear, draw } from './drawing.js'

/** @typedef {import('../dashboard.js').View} View */

const refreshMs = 4000
const hostOrigin = document.documentElement.dataset.hostOrigin ?? ''

/** @type {string | undefined} */
let token
/** Aborts the request in flight when a newer one starts. */
let inFlight = new AbortController()
/** True once this token has opened the dashboard. */
let hasOpened = false
/** @type {number | undefined} */
let timer

elementOf('refresh').addEventListener('click', () => void refresh())
new ResizeObserver(() => {
  tellHost({ type: 'dashboard:height', height: document.body.offsetHeight })
}).observe(document.body)

if (window.parent === window) {
  notify('blocked', 'This dashboard is part of another page', 'Open the page that embeds it.')
} else {
  window.addEventListener('message', (event) => {
    // Any window may send messages here. Accept a token only from the embedding page, if that is the product's.
    if (event.origin !== hostOrigin || event.source !== window.parent) return
    const message = /** @type {{ type?: unknown, token?: unknown } | null} */ (event.data)
    if (message?.type !== 'dashboard:token' || typeof message.token !== 'string') return
    token = message.token
    hasOpened = false
    void refresh()
  })
  tellHost({ type: 'dashboard:ready' })
}

/** Loads the view now and then periodically. The renderer introspects the token each time. */
async function refresh() {
  window.clearTimeout(timer)
  inFlight.abort()
  inFlight = new AbortController()
  const { signal } = inFlight
  const result = await loadView(signal)
  if (signal.aborted) return
  if ('view' in result) show(result.view)
  else refuse(result.status, result.message)
  if (token !== undefined) timer = window.setTimeout(() => void refresh(), refreshMs)
}

/**
 * @param {AbortSignal} signal
 * @returns {Promise<{ view: View } | { status: number, message: string }>}
 */
async function loadView(signal) {
  try {
    const response = await fetch('/view', { headers: { authorization: `Bearer ${token}` }, signal })
    /** @type {unknown} */
    const body = await response.json()
    if (response.ok) return { view: /** @type {View} */ (body) }
    const { error } = /** @type {{ error: { message: string } }} */ (body)
    return { status: response.status, message: error.message }
  } catch {
    return { status: 0, message: 'The dashboard’s server cannot be reached. The page retries automatically.' }
  }
}

/** @param {View} view */
function show(view) {
  hasOpened = true
  document.body.dataset.state = view.byMonth.length > 0 ? 'shown' : 'empty'
  draw(view)
}

/**
 * @param {number} status HTTP status; 0 without a response
 * @param {string} message
 */
function refuse(status, message) {
  if (status !== 401) {
    notify('failed', 'The dashboard cannot be shown', message)
    return
  }
  // The token never becomes valid again, so stop refreshing.
  token = undefined
  if (hasOpened) {
    notify(
      'refused',
      'This dashboard has stopped',
      'Its token is no longer valid. Reload the dashboard from the page that embeds it.',
    )
  } else {
    notify(
      'refused',
      'This dashboard cannot be opened',
      'Its token is not valid. Reload the dashboard from the page that embeds it.',
    )
  }
}

/**
 * Removes the drawn view and shows the reason.
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
