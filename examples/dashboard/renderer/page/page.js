/// <reference lib="dom" />
// The renderer's page, in the product's frame. Keeps the token in memory only.
import { clear, draw } from './drawing.js'

/** @typedef {import('../dashboard.js').View} View */
/** @typedef {import('../updates.js').Message} Message */
/** @typedef {{ status: number, message: string }} Ending HTTP status; 0 without a response */

const hostOrigin = document.documentElement.dataset.hostOrigin ?? ''
/** Maximum time without a sign of life from the renderer's backend, in milliseconds. It sends one every 5 s. */
const silenceMs = 12_000
const initialDelayMs = 1000
const maxDelayMs = 30_000

/** Filters of the view. The period and the product are not secret, so they may be in a URL. */
const filter = new URLSearchParams()
/** @type {string | undefined} */
let token
/** Aborts the stream of views. */
let following = new AbortController()
/** True while the backend watches the current token. */
let isFollowing = false
/** True once a view was shown. */
let hasOpened = false
/** Connections in a row without a view. */
let failures = 0
/** Requests for a token in a row without a valid one. */
let requests = 0
/** @type {number | undefined} */
let followTimer
/** @type {number | undefined} */
let tokenTimer

elementOf('refresh').addEventListener('click', () => void follow())
for (const input of document.querySelectorAll('input')) {
  // While a year is being typed, the date is out of range.
  input.addEventListener('change', () => input.checkValidity() && setFilter(input.name, input.value))
}
elementOf('rows').addEventListener('click', ({ target }) => {
  if (target instanceof HTMLButtonElement) showProduct(target.textContent)
})
elementOf('all-products').addEventListener('click', () => showProduct(''))
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
    if (isFollowing && message.token === token) {
      // The backend watches this token. If its user group is suspended, the view comes back when it is resumed.
      window.clearTimeout(tokenTimer)
      requests = 0
      return
    }
    token = message.token
    void follow()
  })
  document.addEventListener('visibilitychange', () => {
    // Nobody sees a hidden page, and the browser may stop its scripts. Until the backend has checked the token again, it shows
    // nothing.
    if (document.visibilityState === 'hidden') pause()
    else resume()
  })
  requestToken()
}

/**
 * @param {string} name
 * @param {string} value empty for no limit
 */
function setFilter(name, value) {
  if (value === '') filter.delete(name)
  else filter.set(name, value)
  void follow()
}

/**
 * Drills down to the months of a product, or back to all products.
 * @param {string} product empty for all
 */
function showProduct(product) {
  // The button that has the focus is about to disappear.
  elementOf('table').focus()
  setFilter('product', product)
}

/** Shows views until the stream ends, then starts another. */
async function follow() {
  window.clearTimeout(followTimer)
  following.abort()
  following = new AbortController()
  isFollowing = false
  if (document.visibilityState === 'hidden') return
  const { signal } = following
  const ending = await readViews(signal)
  if (signal.aborted) return
  isFollowing = false
  if (ending.status === 401) {
    stop()
    return
  }
  notify('failed', 'The dashboard cannot be shown', ending.message)
  followTimer = window.setTimeout(() => void follow(), delayAfter(failures++))
}

/**
 * @param {AbortSignal} signal
 * @returns {Promise<Ending>}
 */
async function readViews(signal) {
  const silence = new AbortController()
  let timer = window.setTimeout(() => silence.abort(), silenceMs)
  try {
    const url = new URL('/view', location.href)
    url.search = String(filter)
    const response = await fetch(url, {
      headers: { authorization: `Bearer ${token}` },
      signal: AbortSignal.any([signal, silence.signal]),
    })
    if (!response.ok || !response.body) return await endingOf(response)
    isFollowing = true
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
    let text = ''
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      window.clearTimeout(timer)
      timer = window.setTimeout(() => silence.abort(), silenceMs)
      const events = (text + value).split('\n\n')
      text = events.pop() ?? ''
      for (const event of events) {
        if (event.startsWith('data: ') && !signal.aborted) receive(event.slice(6))
      }
    }
  } catch {
    // Reported below, like an ordinary end.
  } finally {
    window.clearTimeout(timer)
  }
  return { status: 0, message: 'The dashboard’s server cannot be reached. The page retries automatically.' }
}

/**
 * @param {Response} response
 * @returns {Promise<Ending>}
 */
async function endingOf(response) {
  const { error } = /** @type {{ error: { message: string } }} */ (await response.json())
  return { status: response.status, message: error.message }
}

/** @param {string} json */
function receive(json) {
  const message = /** @type {Message} */ (JSON.parse(json))
  failures = 0
  if (message.type === 'view') show(message)
  else if (message.type === 'stopped') stop()
  else notify('failed', 'The dashboard cannot be shown', message.message)
}

/** @param {import('../updates.js').ViewMessage} message */
function show({ view, fingerprint }) {
  hasOpened = true
  document.body.dataset.state = view.byMonth.length > 0 ? 'shown' : 'empty'
  draw(view, fingerprint)
  window.clearTimeout(tokenTimer)
  requests = 0
}

/** Removes the view. It comes back with another token, or with the same one if its user group is resumed. */
function stop() {
  const [title, text] = hasOpened
    ? ['This dashboard has stopped', 'Its token is no longer valid.']
    : ['This dashboard cannot be opened', 'Its token is not valid.']
  notify('refused', title, `${text} It continues as soon as the page that embeds it has a valid one.`)
  // Otherwise a request is pending.
  if (requests === 0) requestToken()
}

/** Asks the embedding page for the current token, again and again until a view is shown. */
function requestToken() {
  window.clearTimeout(tokenTimer)
  tellHost({ type: 'dashboard:token-needed' })
  tokenTimer = window.setTimeout(requestToken, delayAfter(++requests))
}

function pause() {
  window.clearTimeout(followTimer)
  window.clearTimeout(tokenTimer)
  following.abort()
  isFollowing = false
  if (hasOpened) say('waiting', 'One moment', 'The dashboard is being loaded.')
}

function resume() {
  failures = 0
  requests = 0
  if (token === undefined) requestToken()
  else void follow()
}

/**
 * Returns a pause in milliseconds.
 * @param {number} attempts
 */
function delayAfter(attempts) {
  return Math.min(maxDelayMs, initialDelayMs * 2 ** attempts) * (0.5 + Math.random() / 2)
}

/**
 * Removes the drawn view and shows the reason.
 * @param {'blocked' | 'refused' | 'failed'} state
 * @param {string} title
 * @param {string} text
 */
function notify(state, title, text) {
  clear()
  say(state, title, text)
}

/**
 * Shows a text in place of the view.
 * @param {'waiting' | 'blocked' | 'refused' | 'failed'} state
 * @param {string} title
 * @param {string} text
 */
function say(state, title, text) {
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
