import type { FastifyInstance } from 'fastify'
import { Fault } from '../../domain/fault.ts'

/** Responds with 404 to unknown paths, and with 405 and `Allow` to known paths with another method. Call it before adding routes. */
export function refuseUnknownRoutes(app: FastifyInstance): void {
  const routes: { readonly pattern: RegExp; readonly methods: readonly string[] }[] = []
  app.addHook('onRoute', ({ url, method }) => {
    routes.push({ pattern: patternOf(url), methods: [method].flat() })
  })
  app.addHook('onRequest', (request, reply, done) => {
    if (!request.is404) return done()
    const path = request.url.replace(/\?.*/s, '').replace(/(.)\/$/, '$1')
    const methods = [...new Set(routes.flatMap((route) => (route.pattern.test(path) ? route.methods : [])))]
    if (methods.length === 0) throw notFound()
    reply.header('allow', methods.join(', '))
    throw new Fault('method_not_allowed', `This path allows ${methods.join(', ')}`)
  })
  app.setNotFoundHandler(() => {
    throw notFound()
  })
}

/** Returns the pattern of a route's paths: `:name` matches one segment, restricted by its own pattern if it has one; `*` matches the rest. */
function patternOf(url: string): RegExp {
  const special = /:\w+(?:\(\^(.*?)\$\))?|[*.+?^${}()|[\]\\]/g
  const pattern = url.replaceAll(special, (found, segment: string | undefined) =>
    found === '*' ? '.*' : found.startsWith(':') ? (segment ?? '[^/]+') : `\\${found}`,
  )
  return new RegExp(`^${pattern}$`)
}

function notFound(): Fault {
  return new Fault('not_found', 'There is nothing at this path')
}
