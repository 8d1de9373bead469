import { MIMEType } from 'node:util'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Fault } from '../domain/fault.ts'

/**
 * Judges a request's body by its headers, before any of it is read (contract, "Input").
 * @throws Fault `not_implemented`, `body_required`, `unsupported_media_type`, `body_too_large`
 */
export function checkBodyHeaders(request: FastifyRequest): void {
  const { headers } = request.raw
  const coding = headers['transfer-encoding']
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') {
    throw new Fault('not_implemented', 'Transfer-Encoding: only chunked is supported')
  }
  const length = Number(headers['content-length'] ?? 0)
  if (coding === undefined && length === 0) throw bodyRequired(request.method)
  if (headers['content-encoding'] !== undefined) {
    throw new Fault('unsupported_media_type', 'Content-Encoding: is not supported; send the body as it is')
  }
  if (!isJson(headers['content-type'])) {
    throw new Fault('unsupported_media_type', 'Content-Type: must be application/json, in UTF-8')
  }
  if (length > request.routeOptions.bodyLimit) throw bodyTooLarge(request.routeOptions.bodyLimit)
}

/** The whole body. @throws Fault `body_required`, `body_too_large` */
export function bodyOf(request: FastifyRequest): Buffer {
  const body = request.body as Buffer | Fault
  if (body instanceof Fault) throw body
  if (body.length === 0) throw bodyRequired(request.method)
  return body
}

/**
 * Reads bodies as bytes. One that turns out too large is answered while the rest of it is read and dropped, so that
 * the client, still sending, gets to see the answer; `UGS_REQUEST_TIMEOUT_MS` bounds how long that may take.
 */
export function addBodyReader(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (request, payload, done) => {
    const limit = request.routeOptions.bodyLimit
    const chunks: Buffer[] = []
    let length = 0
    payload.on('data', (chunk: Buffer) => {
      if (length > limit) return
      length += chunk.length
      if (length <= limit) chunks.push(chunk)
      else {
        chunks.length = 0
        done(null, bodyTooLarge(limit))
      }
    })
    payload.on('end', () => {
      if (length <= limit) done(null, chunks.length === 1 ? chunks[0] : Buffer.concat(chunks, length))
    })
    payload.on('error', () => {
      if (length <= limit) done(new Fault('malformed_request', 'The request ended before its body did'))
    })
  })
}

function isJson(contentType: string | undefined): boolean {
  if (contentType === 'application/json') return true
  try {
    const { essence, params } = new MIMEType(contentType ?? '')
    return essence === 'application/json' && /^utf-?8$/i.test(params.get('charset') ?? 'utf-8')
  } catch {
    return false
  }
}

function bodyRequired(method: string): Fault {
  return new Fault(
    'body_required',
    method === 'GET'
      ? 'The GET has no body. A proxy or client on the way may have dropped it: send POST with the header X-HTTP-Method-Override: GET instead'
      : 'The request has no body; send a JSON object',
  )
}

function bodyTooLarge(limit: number): Fault {
  return new Fault('body_too_large', `The body is larger than ${limit} bytes`)
}
