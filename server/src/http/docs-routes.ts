import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'
import { sendJson } from './answer.ts'

// The page's styles set a few attributes by script, and its icons are data URLs.
const contentSecurityPolicy =
  "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

// Without a try-it-out there is nothing to authorize, and a field for a token would invite one to be pasted.
const styles = '.swagger-ui .auth-wrapper, .swagger-ui .authorization__btn { display: none }'

/** The OpenAPI document, for programs and as a page; the page fetches nothing from elsewhere. */
export async function addDocsRoutes(app: FastifyInstance, document: object): Promise<void> {
  const json = JSON.stringify(document)
  app.route({
    method: ['GET', 'HEAD'],
    url: '/openapi.json',
    handler: (_request, reply) => sendJson(reply, 200, json),
  })
  // The page's files come with a header of their own, which every answer's rule goes before.
  app.addHook('onSend', (_request, reply, _payload, done) => {
    reply.header('cache-control', 'no-store')
    done()
  })
  // Hands the page its document; the type knows OpenAPI 3.0 only.
  await app.register(swagger, { mode: 'static', specification: { document: document as never } })
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: contentSecurityPolicy,
    theme: { title: 'User Group Service API', css: [{ filename: 'page.css', content: styles }] },
    uiConfig: {
      // Without the bar that offers to open another document.
      layout: 'BaseLayout',
      // A page cannot send a GET with a body, nor should an API token be pasted into one.
      supportedSubmitMethods: [],
      // By default it asks a public service whether the document is valid.
      validatorUrl: null,
    },
  })
}
