import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { FastifyInstance } from 'fastify'
import { readBuiltPage } from '../built-page.ts'
import { preferredEncoding } from '../content-encoding.ts'
import { sendJson } from '../response.ts'
import { addStaticFiles } from '../static-files.ts'

export interface DocsRoutesDependencies {
  readonly document: () => object
  /** Folder of the built files. */
  readonly folder: string
  /** Path under which a proxy publishes the service. */
  readonly publicPath: string
}

/** Adds the OpenAPI document as JSON and as a page. The page loads nothing from other servers. */
export async function addDocsRoutes(
  app: FastifyInstance,
  { document, folder, publicPath }: DocsRoutesDependencies,
): Promise<void> {
  // Written for the first request, because few processes get one.
  let written: Promise<Record<'br' | 'gzip' | 'identity', Buffer>> | undefined
  app.route({
    method: ['GET', 'HEAD'],
    url: '/openapi.json',
    handler: async ({ headers }, reply) => {
      const encoding = preferredEncoding(headers['accept-encoding'], ['br', 'gzip'])
      const json = (await (written ??= compressedJson(document())))[encoding]
      reply.header('vary', 'Accept-Encoding')
      if (encoding !== 'identity') reply.header('content-encoding', encoding)
      return sendJson(reply, 200, json)
    },
  })
  const send = await readBuiltPage(join(folder, 'docs.html'), `${publicPath}/docs/assets/`)
  app.get('/docs', (_request, reply) => send(reply))
  await addStaticFiles(app, join(folder, 'assets'), '/docs/assets/')
}

async function compressedJson(document: object) {
  const identity = Buffer.from(JSON.stringify(document))
  // The default level of brotli takes a second.
  const params = { [constants.BROTLI_PARAM_QUALITY]: 5 }
  const [br, gzipped] = await Promise.all([
    promisify(brotliCompress)(identity, { params }),
    promisify(gzip)(identity),
  ])
  return { identity, br, gzip: gzipped }
}
