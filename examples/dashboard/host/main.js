// The customer's product: its page, and the backend that holds the API token.
import { createHash } from 'node:crypto'
import { file, json, page, readJson, Refusal, serve, setting } from '../shared/web-server.js'
import { customers } from './customers.js'
import { UserGroups } from './user-groups.js'

const origin = setting('ORIGIN')
const rendererOrigin = setting('RENDERER_ORIGIN')
const userGroups = new UserGroups({
  url: `${setting('SERVICE_ORIGIN')}/api/user`,
  apiToken: setting('API_TOKEN'),
  schema: setting('SCHEMA'),
})
const pageFile = (/** @type {string} */ name) => new URL(`page/${name}`, import.meta.url)

await serve({
  origin,
  contentSecurityPolicy: [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    `frame-src ${rendererOrigin}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; '),
  routes: {
    'GET /': page(pageFile('index.html'), { RENDERER_ORIGIN: rendererOrigin }),
    'GET /page.css': file(pageFile('page.css'), 'text/css'),
    'GET /page.js': file(pageFile('page.js'), 'text/javascript'),
    'GET /icon.svg': file(pageFile('icon.svg'), 'image/svg+xml'),
    'GET /customers': () => json(customers.map(({ id, name }) => ({ id, name }))),
    'POST /dashboard-token': async (request) => {
      const customer = await customerOf(request)
      const token = await userGroups.getOrCreate(customer)
      return json({ token, userGroup: factsOf(customer, token) })
    },
    'POST /rotation': async (request) => {
      const customer = await customerOf(request)
      const token = await userGroups.rotate(customer)
      return json({ userGroup: factsOf(customer, token) })
    },
  },
})

/**
 * Returns the customer of a request. The example's switcher replaces a sign-in: a real product takes the customer from its
 * session, never from the page.
 * @param {import('node:http').IncomingMessage} request
 * @throws Refusal
 */
async function customerOf(request) {
  checkOwnPage(request)
  const body = /** @type {{ customer?: unknown } | null} */ (await readJson(request))
  const customer = customers.find(({ id }) => id === body?.customer)
  if (!customer) throw new Refusal(400, 'unknown_customer', 'Unknown customer')
  return customer
}

/**
 * Admits only the product's own page. Browsers send Origin with every POST and pages cannot forge it. A cookie with
 * SameSite would not suffice: the renderer's page is another port of the same site.
 * @param {import('node:http').IncomingMessage} request
 * @throws Refusal
 */
function checkOwnPage({ headers }) {
  if (headers.origin !== origin || (headers['sec-fetch-site'] ?? 'same-origin') !== 'same-origin') {
    throw new Refusal(403, 'forbidden', 'Only the product’s page may send this request')
  }
}

/**
 * Returns the facts about the user group that the page shows.
 * @param {import('./customers.js').Customer} customer
 * @param {string} token
 */
function factsOf({ id, dataSource, properties }, token) {
  const fingerprint = createHash('sha256').update(token).digest('hex').slice(0, 8)
  return { id, dataSource, properties, fingerprint }
}
