import type { IncomingMessage } from 'node:http'
import { MIMEType } from 'node:util'
import type { FastifyInstance } from 'fastify'
import { Fault } from '../domain/fault.ts'
import { received } from './received-header.ts'
import { contextOf, type RequestContext } from './request-context.ts'
import { overloaded, type Permit } from './server/permit.ts'
import { extendTimeoutForUpload } from './server/request-timeout.ts'
import { continueRequest } from './server/unread-body.ts'

/**
 * Checks the headers of a request with a body, before the body is read (contract, "Input").
 * @throws Fault `not_implemented`, `body_required`, `unsupported_media_type`, `body_too_large`
 */
export function checkBodyHeaders(request: IncomingMessage, mediaType: string, bodyLimit: number): void {
  checkUploadHeaders(request, [mediaType])
  if (lengthOf(request) > bodyLimit) throw bodyTooLarge(bodyLimit)
}

/**
 * Checks the headers of a request with a body of any size.
 * @throws Fault `not_implemented`, `body_required`, `unsupported_media_type`
 */
export function checkUploadHeaders(request: IncomingMessage, mediaTypes: readonly string[]): void {
  const { headers } = request
  const coding = headers['transfer-encoding']
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') {
    throw new Fault('not_implemented', 'Transfer-Encoding: only chunked is supported')
  }
  if (coding === undefined && lengthOf(request) === 0) throw bodyRequired(request)
  const encoding = headers['content-encoding'] ?? 'identity'
  if (encoding.toLowerCase() !== 'identity') {
    throw new Fault(
      'unsupported_media_type',
      `Content-Encoding: ${received(encoding)} is not supported; send the body uncompressed`,
    )
  }
  if (mediaTypeOf(request, mediaTypes) === undefined) {
    throw new Fault(
      'unsupported_media_type',
      `Content-Type: must be ${mediaTypes.join(' or ')}, in UTF-8, but is ${received(headers['content-type'])}`,
    )
  }
}

function lengthOf({ headers }: IncomingMessage): number {
  return Number(headers['content-length'] ?? 0)
}

/**
 * Reads the whole body and calls `work` with it. The request counts as in flight from the end of its body until `work` ends.
 * @throws Fault `body_required`, `body_too_large`, `malformed_request`, `unavailable`, and the errors of `work`
 */
export async function withBody<T>(
  { raw, response, permit }: RequestContext,
  bodyLimit: number,
  work: (body: Buffer) => T | Promise<T>,
): Promise<T> {
  continueRequest(raw, response)
  try {
    return await work(
      hasArrived(raw) ? takeBody(raw, permit, bodyLimit) : await readBody(raw, permit, bodyLimit),
    )
  } finally {
    permit.release()
  }
}

/** Returns true if the whole body is in memory. Most bodies arrive in one packet with their headers. */
function hasArrived(request: IncomingMessage): boolean {
  const { complete, readableLength } = request
  return complete || (readableLength > 0 && readableLength === lengthOf(request))
}

function takeBody(request: IncomingMessage, permit: Permit, bodyLimit: number): Buffer {
  const body = request.read() as Buffer | null
  // Makes Node.js see the end of the body.
  request.resume()
  if (body === null) throw bodyRequired(request)
  if (body.length > bodyLimit) throw bodyTooLarge(bodyLimit)
  if (!permit.reserve(body.length) || !permit.begin()) throw overloaded()
  return body
}

/** Reads a body as it arrives. */
function readBody(request: IncomingMessage, permit: Permit, bodyLimit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let length = 0
    const refuse = (fault: Fault) => {
      request.off('data', take).off('end', finish)
      chunks.length = 0
      reject(fault)
    }
    const take = (chunk: Buffer) => {
      length += chunk.length
      if (length > bodyLimit) refuse(bodyTooLarge(bodyLimit))
      else if (!permit.reserve(length)) refuse(overloaded())
      else chunks.push(chunk)
    }
    const finish = () => {
      if (length === 0) refuse(bodyRequired(request))
      else if (!permit.begin()) refuse(overloaded())
      else resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks))
    }
    request.on('data', take)
    request.on('end', finish)
    request.on('error', () => reject(endedEarly()))
  })
}

/**
 * Yields the parts of a body as they arrive. Stopping before the end leaves the connection open.
 * @throws Fault `body_required`, `malformed_request`
 */
export async function* readUpload(request: IncomingMessage): AsyncGenerator<Buffer> {
  extendTimeoutForUpload(request)
  continueRequest(request, contextOf(request).response)
  let isEmpty = true
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      isEmpty = false
      yield chunk
    }
  } catch {
    throw endedEarly()
  }
  if (isEmpty) throw bodyRequired(request)
}

/** Makes Fastify leave bodies to the routes: Fastify would not read the body of a GET, and does not apply the limits of `withBody`. */
export function leaveBodiesUnread(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))
}

/** Returns which of the media types the body has, according to `Content-Type`. */
export function mediaTypeOf({ headers }: IncomingMessage, mediaTypes: readonly string[]): string | undefined {
  const contentType = headers['content-type'] ?? ''
  if (mediaTypes.includes(contentType)) return contentType
  try {
    const { essence, params } = new MIMEType(contentType)
    const isUtf8 = /^utf-?8$/i.test(params.get('charset') ?? 'utf-8')
    return isUtf8 ? mediaTypes.find((mediaType) => mediaType === essence) : undefined
  } catch {
    return undefined
  }
}

function bodyRequired({ method }: IncomingMessage): Fault {
  return new Fault(
    'body_required',
    method === 'GET'
      ? 'The GET has no body. A proxy or client on the way may have dropped it: send POST with the header X-HTTP-Method-Override: GET instead'
      : 'The request has no body',
  )
}

function endedEarly(): Fault {
  return new Fault('malformed_request', 'The request ended before its body did')
}

function bodyTooLarge(limit: number): Fault {
  return new Fault('body_too_large', `The body is larger than ${limit} bytes`)
}
