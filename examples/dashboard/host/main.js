// The customer's product: its page, and the backend that holds the API token.
import { file, json, page, readJson, Refusal, serve, setting } from '../shared/web-server.js'
import { changeRegion, customers } from './customers.js'
import { UserGroups } from './user-groups.js'

const origin = setting('ORIGIN')
const rendererOrigin = setting('RENDERER_ORIGIN')
const userGroups = new UserGroups({
  origin: setting('SERVICE_ORIGIN'),
  apiToken: setting('API_TOKEN'),
  adminToken: setting('ADMIN_TOKEN'),
  schema: setting('SCHEMA'),
})
/**
 * Changes that the buttons of the page make, by path.
 * @type {Record<string, (customer: import('./customers.js').Customer) => Promise<unknown>>}
 */
const changes = {
  'POST /rotate': (customer) => userGroups.rotate(customer, 0),
  'POST /rotate-with-grace-period': (customer) => userGroups.rotate(customer, 300),
  'POST /suspend': (customer) => userGroups.suspend(customer),
  'POST /resume': (customer) => userGroups.resume(customer),
  'POST /change-region': (customer) => {
    changeRegion(customer)
    return userGroups.getOrCreate(customer)
  },
}
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
      const { token } = await userGroups.getOrCreate(customer)
      return json({ token, customer })
    },
    ...Object.fromEntries(
      Object.entries(changes).map(([route, change]) => [
        route,
        async (/** @type {import('node:http').IncomingMessage} */ request) => {
          const customer = await customerOf(request)
          await change(customer)
          return json({ customer })
        },
      ]),
    ),
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
