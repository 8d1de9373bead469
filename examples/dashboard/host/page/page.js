/// <reference lib="dom" />
// The product's page. It passes the token to the frame and does not keep it.

/** @typedef {import('../customers.js').Customer} Customer */

const rendererOrigin = document.documentElement.dataset.rendererOrigin ?? ''
const embedding = elementOf('embed')
const status = elementOf('status')
const actions = elementOf('actions')

/** @type {{ customer: string, frame: HTMLIFrameElement } | undefined} */
let shown

elementOf('caption').textContent = `Drawn by the renderer at ${rendererOrigin}`
actions.addEventListener('click', ({ target }) => {
  if (shown && target instanceof HTMLButtonElement) void change(shown.customer, target)
})
window.addEventListener('message', (event) => {
  // Any window may send messages here. Respond only to the renderer's page in the current frame.
  if (!shown || event.origin !== rendererOrigin || event.source !== shown.frame.contentWindow) return
  const message = /** @type {{ type?: unknown, height?: unknown } | null} */ (event.data)
  // Sent once the frame has loaded, and again whenever its token has stopped.
  if (message?.type === 'dashboard:token-needed') void sendToken(shown)
  if (message?.type === 'dashboard:height') fit(shown.frame, message.height)
})
void showCustomers()

async function showCustomers() {
  const response = await fetch('/customers')
  const customers = /** @type {Pick<Customer, 'id' | 'name'>[]} */ (await response.json())
  elementOf('customers').replaceChildren(
    ...customers.map(({ id, name }, index) => {
      const label = document.createElement('label')
      const input = document.createElement('input')
      input.type = 'radio'
      input.name = 'customer'
      input.value = id
      input.checked = index === 0
      // Some browsers restore the selection after a reload.
      input.autocomplete = 'off'
      input.addEventListener('change', () => embed(id))
      label.append(input, name)
      return label
    }),
  )
  if (customers[0]) embed(customers[0].id)
}

/**
 * Shows the dashboard in a new frame, without any state of the previous one.
 * @param {string} customer
 */
function embed(customer) {
  const frame = document.createElement('iframe')
  frame.title = 'Dashboard'
  frame.referrerPolicy = 'no-referrer'
  frame.sandbox.add('allow-scripts', 'allow-same-origin')
  frame.src = `${rendererOrigin}/`
  // Keep the height, so that the page does not jump while the frame loads.
  frame.style.height = shown?.frame.style.height ?? ''
  shown = { customer, frame }
  status.textContent = ''
  embedding.replaceChildren(frame)
}

/**
 * Sends the customer's token to the frame. Only the renderer's origin can receive it.
 * @param {{ customer: string, frame: HTMLIFrameElement }} target
 */
async function sendToken(target) {
  const result = await post('/dashboard-token', target.customer)
  // The customer may have been switched meanwhile.
  if (target !== shown || !result?.token) return
  showFacts(result.customer)
  target.frame.contentWindow?.postMessage({ type: 'dashboard:token', token: result.token }, rendererOrigin)
}

/**
 * @param {string} customer
 * @param {HTMLButtonElement} button its value is the path of the change
 */
async function change(customer, { value, dataset }) {
  // A second click would rotate again.
  if (actions.ariaBusy === 'true') return
  actions.ariaBusy = 'true'
  const result = await post(`/${value}`, customer)
  actions.ariaBusy = 'false'
  if (!result || customer !== shown?.customer) return
  showFacts(result.customer)
  status.textContent = dataset.done ?? ''
  // A dashboard that was opened during the suspension has no valid token and asks for one at growing intervals.
  if (value === 'resume') void sendToken(shown)
}

/**
 * Sends a request to the product's backend, which holds the API token.
 * @param {string} path
 * @param {string} customer
 * @returns {Promise<{ token?: string, customer: Customer } | undefined>}
 */
async function post(path, customer) {
  try {
    const response = await fetch(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ customer }),
    })
    /** @type {{ token?: string, customer: Customer }} */
    const body = await response.json()
    if (response.ok) return body
  } catch {
    // Reported below, like any other failure.
  }
  status.textContent = 'The product cannot reach the User Group Service. Try again in a moment.'
  return undefined
}

/** @param {Customer} customer */
function showFacts({ id, dataSource, properties }) {
  const facts = { user_group: id, data_source: dataSource, ...properties }
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
