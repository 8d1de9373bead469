// The customer's product: its page, and the backend that holds the API token.
import { file, json, page, readJson, Refusal, script, serve, setting } from '../shared/web-server.js'
import { changeRegions, people } from './customers.js'
import { UserGroups } from './user-groups.js'

const origin = setting('ORIGIN')
const rendererOrigin = setting('RENDERER_ORIGIN')
const userGroups = new UserGroups({
  origin: setting('SERVICE_ORIGIN'),
  apiToken: setting('API_TOKEN'),
  adminToken: setting('ADMIN_TOKEN'),
  schema: setting('SCHEMA'),
})
/** Ids of viewers who may not sign in any more. */
const lockedOut = new Set()
/**
 * Changes that the buttons of the page make, by path.
 * @type {Record<string, (person: import('./customers.js').Person) => unknown>}
 */
const changes = {
  'POST /end-sessions': ({ customer, viewer }) => {
    // First, so that the page gets no new session.
    lockedOut.add(viewer.id)
    return userGroups.endSessions(customer, viewer)
  },
  'POST /let-in': ({ viewer }) => lockedOut.delete(viewer.id),
  'POST /suspend': ({ customer }) => userGroups.suspend(customer),
  'POST /resume': ({ customer }) => userGroups.resume(customer),
  'POST /change-regions': ({ customer }) => {
    changeRegions(customer)
    return userGroups.getOrCreate(customer)
  },
}
const browserModule = '@user-group-service/renderer/browser'
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
    'GET /page.js': script(pageFile('page.js'), browserModule, '/keep-session.js'),
    'GET /icon.svg': file(pageFile('icon.svg'), 'image/svg+xml'),
    'GET /keep-session.js': file(new URL(import.meta.resolve(browserModule)), 'text/javascript'),
    'GET /people': () => json(people),
    'POST /dashboard-session': async (request) => {
      const person = await personOf(request)
      if (lockedOut.has(person.viewer.id)) throw new Refusal(403, 'locked_out', 'This person was locked out')
      return json({ ...(await userGroups.createSession(person)), person })
    },
    ...Object.fromEntries(
      Object.entries(changes).map(([route, change]) => [
        route,
        async (/** @type {import('node:http').IncomingMessage} */ request) => {
          const person = await personOf(request)
          await change(person)
          return json({ person })
        },
      ]),
    ),
  },
})

/**
 * Returns the person of a request. The example's switcher replaces a sign-in: a real product takes the person from its own
 * sign-in, never from the page.
 * @param {import('node:http').IncomingMessage} request
 * @throws Refusal
 */
async function personOf(request) {
  checkOwnPage(request)
  const body = /** @type {{ viewer?: unknown } | null} */ (await readJson(request))
  const person = people.find(({ viewer }) => viewer.id === body?.viewer)
  if (!person) throw new Refusal(400, 'unknown_viewer', 'Unknown viewer')
  return person
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
