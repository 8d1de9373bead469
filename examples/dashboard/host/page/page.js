/// <reference lib="dom" />
// The product's page. It passes the token of a session to the frame and does not keep it.
import { keepSession } from '@user-group-service/renderer/browser'

/** @typedef {import('../customers.js').Person} Person */
/** @typedef {import('@user-group-service/renderer/browser').HostSession} HostSession */
/** @typedef {import('@user-group-service/renderer/browser').KeptSession} KeptSession */

const rendererOrigin = document.documentElement.dataset.rendererOrigin ?? ''
const embedding = elementOf('embed')
const status = elementOf('status')
const actions = elementOf('actions')

/**
 * The dashboard of a viewer. Without a session once the product refused one.
 * @type {{ viewer: string, frame: HTMLIFrameElement, session: KeptSession | undefined, isEnded: boolean } | undefined}
 */
let shown

elementOf('caption').textContent = `Drawn by the renderer at ${rendererOrigin}`
actions.addEventListener('click', ({ target }) => {
  if (shown && target instanceof HTMLButtonElement) void change(shown.viewer, target)
})
window.addEventListener('message', (event) => {
  // Any window may send messages here. Respond only to the renderer's page in the current frame.
  if (!shown || event.origin !== rendererOrigin || event.source !== shown.frame.contentWindow) return
  const message = /** @type {{ type?: unknown, height?: unknown } | null} */ (event.data)
  // Sent once the frame has loaded, and again whenever its token has stopped.
  if (message?.type === 'dashboard:token-needed' && !shown.isEnded) openSession()
  if (message?.type === 'dashboard:height') fit(shown.frame, message.height)
})
void showPeople()

async function showPeople() {
  const response = await fetch('/people')
  const people = /** @type {Person[]} */ (await response.json())
  elementOf('people').replaceChildren(
    ...people.map(({ viewer, customer }, index) => {
      const label = document.createElement('label')
      const input = document.createElement('input')
      input.type = 'radio'
      input.name = 'viewer'
      input.value = viewer.id
      input.checked = index === 0
      // Some browsers restore the selection after a reload.
      input.autocomplete = 'off'
      input.addEventListener('change', () => embed(viewer.id))
      label.append(input, `${customer.name.replace('Customer ', '')}: ${viewer.name}`)
      return label
    }),
  )
  if (people[0]) embed(people[0].viewer.id)
}

/**
 * Shows the dashboard in a new frame, without any state of the previous one.
 * @param {string} viewer
 */
function embed(viewer) {
  const frame = document.createElement('iframe')
  frame.title = 'Dashboard'
  frame.referrerPolicy = 'no-referrer'
  frame.sandbox.add('allow-scripts', 'allow-same-origin')
  frame.src = `${rendererOrigin}/`
  // Keep the height, so that the page does not jump while the frame loads.
  frame.style.height = shown?.frame.style.height ?? ''
  shown?.session?.stop()
  shown = { viewer, frame, session: undefined, isEnded: false }
  status.textContent = ''
  embedding.replaceChildren(frame)
}

/** Sends a session to the frame, and the next one before it expires. Only the renderer's origin can receive them. */
function openSession() {
  if (!shown) return
  const { viewer, frame } = shown
  shown.session?.stop()
  shown.isEnded = false
  shown.session = keepSession({
    fetchSession: async (signal) => {
      const result = await post('/dashboard-session', viewer, signal)
      if (viewer === shown?.viewer) showFacts(result.person)
      return /** @type {HostSession & { person: Person }} */ (result)
    },
    onToken: (token) => {
      frame.contentWindow?.postMessage({ type: 'dashboard:token', token }, rendererOrigin)
    },
    onEnded: () => {
      if (shown) shown.isEnded = true
    },
    onError: reportFailure,
  })
}

/**
 * @param {string} viewer
 * @param {HTMLButtonElement} button its value is the path of the change
 */
async function change(viewer, { value, dataset }) {
  if (actions.ariaBusy === 'true') return
  actions.ariaBusy = 'true'
  const result = await post(`/${value}`, viewer).catch(reportFailure)
  actions.ariaBusy = 'false'
  if (!result || viewer !== shown?.viewer) return
  showFacts(result.person)
  status.textContent = dataset.done ?? ''
  // The dashboard has no valid token, and asks for one at growing intervals or not at all.
  if (value === 'resume' || value === 'let-in') openSession()
}

/**
 * Sends a request to the product's backend, which holds the API token. Rejects with the response if that is an error.
 * @param {string} path
 * @param {string} viewer
 * @param {AbortSignal} [signal]
 * @returns {Promise<{ person: Person }>}
 */
async function post(path, viewer, signal) {
  const response = await fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ viewer }),
    ...(signal && { signal }),
  })
  // keepSession reads the status.
  // eslint-disable-next-line @typescript-eslint/only-throw-error
  if (!response.ok) throw response
  /** @type {{ person: Person }} */
  const body = await response.json()
  return body
}

function reportFailure() {
  status.textContent = 'The product cannot reach the User Group Service. Try again in a moment.'
}

/** @param {Person} person */
function showFacts({ viewer: { name, regions }, customer: { id, dataSource, properties } }) {
  const viewer = regions ? `${name}, only ${regions.join(', ')}` : name
  const facts = { viewer, user_group: id, data_source: dataSource, ...properties }
  elementOf('facts').replaceChildren(
    ...Object.entries(facts).map(([name, value]) => {
      const fact = document.createElement('div')
      const term = document.createElement('dt')
      const detail = document.createElement('dd')
      term.textContent = `${name.charAt(0).toUpperCase()}${name.slice(1).replaceAll('_', ' ')}`
      detail.textContent = [value].flat().join(', ')
      fact.append(term, detail)
      return fact
    }),
  )
}

/**
 * @param {HTMLIFrameElement} frame
 * @param {unknown} height height reported by the renderer's page, in CSS pixels
 */
function fit(frame, height) {
  if (typeof height === 'number') frame.style.height = `${Math.min(Math.max(height, 200), 4000)}px`
}

/** @param {string} id */
function elementOf(id) {
  return /** @type {HTMLElement} */ (document.getElementById(id))
}
