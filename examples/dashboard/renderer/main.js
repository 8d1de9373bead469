// The renderer: its embedded page, and the backend that introspects tokens.
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { IntrospectionClient } from '@user-group-service/renderer'
import { file, page, Refusal, serve, setting, stream } from '../shared/web-server.js'
import { Dashboard } from './dashboard.js'
import { Updates } from './updates.js'
import { openWarehouses } from './warehouses.js'

const origin = setting('ORIGIN')
const hostOrigin = setting('HOST_ORIGIN')
const introspection = new IntrospectionClient({
  url: `${setting('SERVICE_ORIGIN')}/oauth2/introspect`,
  apiToken: setting('API_TOKEN'),
  deadlineMs: 2000,
  cache: { lease: true, maxEntries: 10_000 },
})
introspection.on('disconnected', ({ reason }) => console.error(`the event feed is disconnected: ${reason}`))
const dashboard = new Dashboard({
  introspection,
  warehouses: openWarehouses(setting('WAREHOUSES')),
  schema: setting('SCHEMA'),
  showsStatements: process.env.SHOW_STATEMENTS === '1',
})
const updates = new Updates({ introspection, dashboard })
const pageFile = (/** @type {string} */ name) => new URL(`page/${name}`, import.meta.url)
const chart = new URL('chart.umd.min.js', pathToFileURL(createRequire(import.meta.url).resolve('chart.js')))

await serve({
  origin,
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
    'GET /view': async ({ headers, url = '' }) => {
      const token = /^Bearer ([\w.-]+)$/.exec(headers.authorization ?? '')?.[1]
      if (token === undefined) throw new Refusal(401, 'no_token', 'Send the token of a session')
      const userGroup = await dashboard.userGroupOf(token)
      // The templates bind these values. Names that no template uses have no effect.
      const filter = Object.fromEntries(new URL(url, origin).searchParams)
      return stream((send) => updates.open({ token, userGroup, filter, send }))
    },
  },
})
