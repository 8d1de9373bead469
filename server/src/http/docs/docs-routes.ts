import { fileURLToPath } from 'node:url'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance } from 'fastify'
import { sendJson } from '../response.ts'

// The page's script sets styles of its own, and its icons are data URLs.
const contentSecurityPolicy =
  "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

/** From where the page is, with and without a slash at the end of its path. */
const page = (files: string) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>User Group Service API</title>
<link rel="icon" href="${files}/favicon-32x32.png">
<link rel="stylesheet" href="${files}/swagger-ui.css">
<style>
body { margin: 0 }
/* Without a try-it-out there is nothing to authorize, and a field for a token would invite one to be pasted. */
.swagger-ui .auth-wrapper, .swagger-ui .authorization__btn { display: none }
</style>
</head>
<body>
<div id="swagger-ui"></div>
<script src="${files}/swagger-ui-bundle.js"></script>
<script src="${files}/../page.js"></script>
</body>
</html>
`

const script = `SwaggerUIBundle({
  url: new URL('../openapi.json', document.currentScript.src).href,
  dom_id: '#swagger-ui',
  deepLinking: true,
  // A page cannot send a GET with a body, nor should an API token be pasted into one.
  supportedSubmitMethods: [],
  // By default it asks a public service whether the document is valid.
  validatorUrl: null,
})
`

/** The OpenAPI document, for programs and as a page; the page fetches nothing from elsewhere. */
export async function addDocsRoutes(app: FastifyInstance, document: object): Promise<void> {
  const json = JSON.stringify(document)
  app.route({
    method: ['GET', 'HEAD'],
    url: '/openapi.json',
    handler: (_request, reply) => sendJson(reply, 200, json),
  })
  app.addHook('onSend', (_request, reply, _payload, done) => {
    // The page's files come with a header of their own, which every answer's rule goes before.
    reply.header('cache-control', 'no-store')
    reply.header('content-security-policy', contentSecurityPolicy)
    done()
  })
  app.get('/docs', ({ url }, reply) => {
    const isFolder = /^[^?]*\/(\?|$)/.test(url)
    return reply.type('text/html; charset=utf-8').send(page(isFolder ? 'static' : 'docs/static'))
  })
  app.get('/docs/page.js', (_request, reply) => reply.type('text/javascript; charset=utf-8').send(script))
  await app.register(fastifyStatic, {
    root: fileURLToPath(import.meta.resolve('@fastify/swagger-ui/static/')),
    prefix: '/docs/static/',
    index: false,
    decorateReply: false,
  })
}
