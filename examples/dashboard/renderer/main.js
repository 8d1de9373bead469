// The renderer: its embedded page, and the backend that introspects tokens.
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { IntrospectionClient } from '@user-group-service/renderer'
import { file, json, page, Refusal, serve, setting } from '../shared/web-server.js'
import { Dashboard } from './dashboard.js'
import { openWarehouses } from './warehouses.js'

const hostOrigin = setting('HOST_ORIGIN')
const dashboard = new Dashboard({
  // No cache: a rotated token stops with the next view.
  introspection: new IntrospectionClient({
    url: `${setting('SERVICE_ORIGIN')}/oauth2/introspect`,
    apiToken: setting('API_TOKEN'),
    deadlineMs: 2000,
  }),
  warehouses: openWarehouses(setting('WAREHOUSES')),
  schema: setting('SCHEMA'),
})
const pageFile = (/** @type {string} */ name) => new URL(`page/${name}`, import.meta.url)
const chart = new URL('chart.umd.min.js', pathToFileURL(createRequire(import.meta.url).resolve('chart.js')))

await serve({
  origin: setting('ORIGIN'),
  contentSecurityPolicy: [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    `frame-ancestors ${hostOrigin}`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; '),
  routes: {
    'GET /': page(pageFile('index.html'), { HOST_ORIGIN: hostOrigin }),
    'GET /page.css': file(pageFile('page.css'), 'text/css'),
    'GET /page.js': file(pageFile('page.js'), 'text/javascript'),
    'GET /drawing.js': file(pageFile('drawing.js'), 'text/javascript'),
    'GET /icon.svg': file(pageFile('icon.svg'), 'image/svg+xml'),
    'GET /chart.js': file(chart, 'text/javascript'),
    'GET /view': async ({ headers }) => {
      const token = /^Bearer (\w+)$/.exec(headers.authorization ?? '')?.[1]
      if (token === undefined) throw new Refusal(401, 'no_token', 'Send a user group token')
      return json(await dashboard.view(token))
    },
  },
})
