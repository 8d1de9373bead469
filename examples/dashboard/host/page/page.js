/// <reference lib="dom" />
// The product's page. It holds a token only for as long as it takes to hand it over.

/** @typedef {{ id: string, name: string }} Customer */
/** @typedef {{ id: string, dataSource: string, properties: Record<string, string | string[]>, fingerprint: string }} UserGroup */

const rendererOrigin = document.documentElement.dataset.rendererOrigin ?? ''
const embedding = elementOf('embed')
const status = elementOf('status')
const rotate = /** @type {HTMLButtonElement} */ (elementOf('rotate'))

/** @type {{ customer: string, frame: HTMLIFrameElement } | undefined} */
let shown

elementOf('caption').textContent = `Drawn by the renderer at ${rendererOrigin}`
elementOf('reload').addEventListener('click', () => shown && embed(shown.customer))
rotate.addEventListener('click', () => shown && void rotateToken(shown.customer))
window.addEventListener('message', (event) => {
  // Any window may send messages here: only the renderer's page in the frame that is there now is answered.
  if (!shown || event.origin !== rendererOrigin || event.source !== shown.frame.contentWindow) return
  const message = /** @type {{ type?: unknown, height?: unknown } | null} */ (event.data)
  if (message?.type === 'dashboard:ready') void handOver(shown)
  if (message?.type === 'dashboard:height') fit(shown.frame, message.height)
})
void showCustomers()

async function showCustomers() {
  const response = await fetch('/customers')
  const customers = /** @type {Customer[]} */ (await response.json())
  elementOf('customers').replaceChildren(
    ...customers.map(({ id, name }, index) => {
      const label = document.createElement('label')
      const input = document.createElement('input')
      input.type = 'radio'
      input.name = 'customer'
      input.value = id
      input.checked = index === 0
      // Some browsers keep what was checked before a reload.
      input.autocomplete = 'off'
      input.addEventListener('change', () => embed(id))
      label.append(input, name)
      return label
    }),
  )
  if (customers[0]) embed(customers[0].id)
}

/**
 * Shows the dashboard in a new frame, so that nothing of what was shown before is left in it.
 * @param {string} customer
 */
function embed(customer) {
  const frame = document.createElement('iframe')
  frame.title = 'Dashboard'
  frame.referrerPolicy = 'no-referrer'
  frame.sandbox.add('allow-scripts', 'allow-same-origin')
  frame.src = `${rendererOrigin}/`
  // The page does not jump while the new one is loaded.
  frame.style.height = shown?.frame.style.height ?? ''
  shown = { customer, frame }
  status.textContent = ''
  embedding.replaceChildren(frame)
}

/**
 * The frame is ready: it gets the token of who is signed in, and nobody but the renderer's origin can.
 * @param {{ customer: string, frame: HTMLIFrameElement }} asked
 */
async function handOver(asked) {
  const answer = await call('/dashboard-token', asked.customer)
  // Somebody else may have signed in meanwhile.
  if (asked !== shown || !answer?.token) return
  showFacts(answer.userGroup)
  asked.frame.contentWindow?.postMessage({ type: 'dashboard:token', token: answer.token }, rendererOrigin)
}

/** @param {string} customer */
async function rotateToken(customer) {
  rotate.disabled = true
  const answer = await call('/rotation', customer)
  rotate.disabled = false
  if (!answer || customer !== shown?.customer) return
  showFacts(answer.userGroup)
  status.textContent =
    'The token is replaced. The dashboard still holds the old one and stops with its next refresh; ' +
    'reload it to hand over the new one.'
}

/**
 * Asks the product's backend, which holds the API token.
 * @param {string} path
 * @param {string} customer
 * @returns {Promise<{ token?: string, userGroup: UserGroup } | undefined>}
 */
async function call(path, customer) {
  try {
    const response = await fetch(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ customer }),
    })
    /** @type {{ token?: string, userGroup: UserGroup }} */
    const answer = await response.json()
    if (response.ok) return answer
  } catch {
    // Told below, like any other failure.
  }
  status.textContent = 'The product cannot reach the User Group Service. Try again in a moment.'
  return undefined
}

/** @param {UserGroup} userGroup */
function showFacts({ id, dataSource, properties, fingerprint }) {
  const facts = {
    user_group: id,
    data_source: dataSource,
    ...properties,
    'token, SHA-256': `${fingerprint}…`,
  }
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
 * @param {unknown} height as the renderer's page tells it, in CSS pixels
 */
function fit(frame, height) {
  if (typeof height === 'number') frame.style.height = `${Math.min(Math.max(height, 200), 4000)}px`
}

/** @param {string} id */
function elementOf(id) {
  return /** @type {HTMLElement} */ (document.getElementById(id))
}
