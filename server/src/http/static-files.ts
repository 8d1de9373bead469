import { readdir, readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Fault } from '../domain/fault.ts'
import { preferredEncoding, type Encoding } from './content-encoding.ts'

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
}
const extensions = { br: '.br', gzip: '.gz' } as const

/**
 * Serves the files of a folder below a prefix, such as `/console/assets/`. Their names contain a hash of their content, so that clients
 * keep them. A file `x.js` may have compressed versions, `x.js.br` and `x.js.gz`.
 */
export async function addStaticFiles(app: FastifyInstance, folder: string, prefix: string): Promise<void> {
  // Only a name in this list is ever opened.
  const all = new Set(await readdir(folder))
  const find = (request: FastifyRequest) => {
    const name = (request.params as { '*': string })['*']
    const type = types[extname(name)]
    if (type === undefined || !all.has(name)) throw new Fault('not_found', 'There is nothing at this path')
    return { name, type }
  }
  const send = async (request: FastifyRequest, reply: FastifyReply) => {
    const { name, type } = find(request)
    const encoding = encodingOf(name, request)
    const file = encoding === 'identity' ? name : name + extensions[encoding]
    const etag = `"${file}"`
    reply.headers({ 'cache-control': 'public, max-age=31536000, immutable', etag, vary: 'Accept-Encoding' })
    if (matches(request.headers['if-none-match'], etag)) return reply.code(304).send()
    if (encoding !== 'identity') reply.header('content-encoding', encoding)
    return reply.type(type).send(await readFile(join(folder, file)))
  }
  const encodingOf = (name: string, { headers }: FastifyRequest): Encoding => {
    const stored = (['br', 'gzip'] as const).filter((encoding) => all.has(name + extensions[encoding]))
    return preferredEncoding(headers['accept-encoding'], stored)
  }
  app.route({ method: ['GET', 'HEAD'], url: `${prefix}*`, handler: send })
}

/** Returns true if `If-None-Match` names an entity tag (RFC 9110, section 13.1.2). */
function matches(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  return header.trim() === '*' || header.split(',').some((known) => known.trim().replace(/^W\//, '') === etag)
}
