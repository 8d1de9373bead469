import { MIMEType } from 'node:util'
import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Fault } from '../domain/fault.ts'
import { overloaded, type LoadShedder, type Permit } from './server/load-shedder.ts'
import { extendTimeoutForUpload } from './server/request-timeout.ts'

declare module 'fastify' {
  interface FastifyInstance {
    loadShedder: LoadShedder
  }
}

/** How the bodies of a route are read. */
export interface BodyReading {
  readonly loadShedder: LoadShedder
  /** The largest body, in bytes. */
  readonly bodyLimit: number
}

export function bodyReadingOf({ server, routeOptions }: FastifyRequest): BodyReading {
  return { loadShedder: server.loadShedder, bodyLimit: routeOptions.bodyLimit }
}

/**
 * Judges a request's body by its headers, before any of it is read (contract, "Input").
 * @throws Fault `not_implemented`, `body_required`, `unsupported_media_type`, `body_too_large`
 */
export function checkBodyHeaders(
  request: IncomingMessage,
  mediaType: string,
  { bodyLimit }: Pick<BodyReading, 'bodyLimit'>,
): void {
  checkUploadHeaders(request, [mediaType])
  if (lengthOf(request) > bodyLimit) throw bodyTooLarge(bodyLimit)
}

/**
 * The same for a body of any size.
 * @throws Fault `not_implemented`, `body_required`, `unsupported_media_type`
 */
export function checkUploadHeaders(request: IncomingMessage, mediaTypes: readonly string[]): void {
  const { headers } = request
  const coding = headers['transfer-encoding']
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') {
    throw new Fault('not_implemented', 'Transfer-Encoding: only chunked is supported')
  }
  if (coding === undefined && lengthOf(request) === 0) throw bodyRequired(request)
  if (headers['content-encoding'] !== undefined) {
    throw new Fault('unsupported_media_type', 'Content-Encoding: is not supported; send the body as it is')
  }
  if (mediaTypeOf(request, mediaTypes) === undefined) {
    throw new Fault('unsupported_media_type', `Content-Type: must be ${mediaTypes.join(' or ')}, in UTF-8`)
  }
}

function lengthOf({ headers }: IncomingMessage): number {
  return Number(headers['content-length'] ?? 0)
}

/**
 * Reads the whole body and does `work` with it, which counts as a call that is worked on until that is done.
 * @throws Fault `body_required`, `body_too_large`, `malformed_request`, `unavailable`, and what `work` throws
 */
export async function withBody<T>(
  request: IncomingMessage,
  { loadShedder, bodyLimit }: BodyReading,
  work: (body: Buffer) => T | Promise<T>,
): Promise<T> {
  const claim = loadShedder.claim()
  try {
    return await work(
      isHere(request) ? takeBody(request, claim, bodyLimit) : await readBody(request, claim, bodyLimit),
    )
  } finally {
    claim.end()
  }
}

/** Whether all of the body has come, as most do in one packet with their headers. */
function isHere(request: IncomingMessage): boolean {
  const { complete, readableLength } = request
  return complete || (readableLength > 0 && readableLength === lengthOf(request))
}

function takeBody(request: IncomingMessage, claim: Permit, bodyLimit: number): Buffer {
  const body = request.read() as Buffer | null
  // Node is yet to be told that there is no more.
  request.resume()
  if (body === null) throw bodyRequired(request)
  if (body.length > bodyLimit) throw bodyTooLarge(bodyLimit)
  if (!claim.hold(body.length) || !claim.begin()) throw overloaded()
  return body
}

/**
 * One that turns out too large is refused at once, and the rest of it is read and dropped, so that the client, still
 * sending, gets to see the answer; `UGS_REQUEST_TIMEOUT_MS` bounds how long that may take.
 */
function readBody(request: IncomingMessage, claim: Permit, bodyLimit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let length = 0
    const refuse = (fault: Fault) => {
      request.off('data', take).off('end', finish).resume()
      chunks.length = 0
      reject(fault)
    }
    const take = (chunk: Buffer) => {
      length += chunk.length
      if (length > bodyLimit) refuse(bodyTooLarge(bodyLimit))
      else if (!claim.hold(length)) refuse(overloaded())
      else chunks.push(chunk)
    }
    const finish = () => {
      if (length === 0) refuse(bodyRequired(request))
      else if (!claim.begin()) refuse(overloaded())
      else resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks))
    }
    request.on('data', take)
    request.on('end', finish)
    request.on('error', () => reject(endedEarly()))
  })
}

/**
 * The body, part by part, for as long as it comes. Whoever stops before its end leaves the connection as it is.
 * @throws Fault `body_required`, `malformed_request`
 */
export async function* readUpload(request: IncomingMessage): AsyncGenerator<Buffer> {
  extendTimeoutForUpload(request)
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

/** Has Fastify hand over each request with its body unread: a GET has one too, and what is read is bounded by `readBody`. */
export function leaveBodiesUnread(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))
}

/** Which of these the body is, by its `Content-Type`. */
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
