import { fileURLToPath } from 'node:url'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance } from 'fastify'
import { sendJson } from '../response.ts'

// The page's script sets inline styles, and its icons are data URLs.
const contentSecurityPolicy =
  "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** @param files path of the static files, relative to the page */
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
/* The page sends no requests, and a field for a token would invite people to paste one. */
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
  // Browsers cannot send a GET with a body, and API tokens do not belong in a page.
  supportedSubmitMethods: [],
  // The default is a public service that validates the document.
  validatorUrl: null,
})
`

/** Adds the OpenAPI document as JSON and as a page. The page loads nothing from other servers. */
export async function addDocsRoutes(app: FastifyInstance, document: () => object): Promise<void> {
  // Written for the first request, because few processes get one.
  let json: string | undefined
  app.route({
    method: ['GET', 'HEAD'],
    url: '/openapi.json',
    handler: (_request, reply) => sendJson(reply, 200, (json ??= JSON.stringify(document()))),
  })
  app.addHook('onSend', (_request, reply, _payload, done) => {
    // Replaces the value that the static files come with.
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
