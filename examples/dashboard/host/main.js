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
      return json({ token, userGroup: described(customer, token) })
    },
    'POST /rotation': async (request) => {
      const customer = await customerOf(request)
      const token = await userGroups.rotate(customer)
      return json({ userGroup: described(customer, token) })
    },
  },
})

/**
 * A product knows from the session who is signed in, and takes no customer's id from a page. The switcher of the example
 * stands for signing in.
 * @param {import('node:http').IncomingMessage} request
 * @throws Refusal
 */
async function customerOf(request) {
  checkOwnPage(request)
  const body = /** @type {{ customer?: unknown } | null} */ (await readJson(request))
  const customer = customers.find(({ id }) => id === body?.customer)
  if (!customer) throw new Refusal(400, 'unknown_customer', 'There is no such customer')
  return customer
}

/**
 * Only the product's own page asks for tokens. Browsers send Origin with every POST and pages cannot choose it; the
 * renderer's page is another port of the same site, so that a cookie's SameSite would not keep it out.
 * @param {import('node:http').IncomingMessage} request
 * @throws Refusal
 */
function checkOwnPage({ headers }) {
  if (headers.origin !== origin || (headers['sec-fetch-site'] ?? 'same-origin') !== 'same-origin') {
    throw new Refusal(403, 'forbidden', 'Only the page of the product may ask')
  }
}

/**
 * What the page shows of the user group.
 * @param {import('./customers.js').Customer} customer
 * @param {string} token
 */
function described({ id, dataSource, properties }, token) {
  const fingerprint = createHash('sha256').update(token).digest('hex').slice(0, 8)
  return { id, dataSource, properties, fingerprint }
}
