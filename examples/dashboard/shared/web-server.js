import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'

/**
 * @typedef {object} HandlerResult
 * @property {number} [status] default: 200
 * @property {string} type
 * @property {string | Buffer} body
 */
/**
 * A stream of Server-Sent Events.
 * @typedef {object} StreamResult
 * @property {(send: (value: object) => void) => () => void} open returns what to call once the client has left
 */
/** @typedef {HandlerResult | StreamResult} Result */
/** @typedef {(request: import('node:http').IncomingMessage) => Result | Promise<Result>} Handler */

const maxBodyBytes = 4096
/** Time between two signs of life on a stream, in milliseconds. */
const pingMs = 5000
/** A client that does not read is disconnected at this number of waiting bytes. */
const maxWaitingBytes = 4 * 1024 * 1024

/** A refused request and its error response. */
export class Refusal extends Error {
  /**
   * @param {number} status
   * @param {string} code
   * @param {string} message for a person; holds no token and no driver's message
   */
  constructor(status, code, message) {
    super(message)
    this.status = status
    this.code = code
  }
}

/**
 * Serves the routes, such as `GET /`, until SIGINT or SIGTERM. Returns the server.
 * @param {object} options
 * @param {string} options.origin origin to listen on
 * @param {string} options.contentSecurityPolicy
 * @param {Record<string, Handler>} options.routes
 */
export async function serve({ origin, contentSecurityPolicy, routes }) {
  const headers = {
    'content-security-policy': contentSecurityPolicy,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    // Responses may hold a token or a customer's data.
    'cache-control': 'no-store',
  }
  const server = createServer((request, response) => {
    void handle(request, routes).then((result) => {
      if ('open' in result) return startStream(response, headers, result)
      const { status = 200, type, body } = result
      // Unread bytes of a request must not be interpreted as the next one.
      const closing = request.complete ? {} : { connection: 'close' }
      response.writeHead(status, { ...headers, ...closing, 'content-type': type })
      response.end(body)
    })
  })
  const { hostname, port } = new URL(origin)
  server.listen(Number(port), hostname)
  await once(server, 'listening')
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.once(signal, () => {
      server.close()
      server.closeAllConnections()
    })
  }
  console.log(`listens on ${origin}`)
  return server
}

/**
 * @param {import('node:http').IncomingMessage} request
 * @param {Record<string, Handler>} routes
 * @returns {Promise<Result>}
 */
async function handle(request, routes) {
  const route = `${request.method} ${request.url?.split('?', 1)[0]}`
  try {
    const handler = Object.hasOwn(routes, route) ? routes[route] : undefined
    if (!handler) throw new Refusal(404, 'not_found', 'Not found')
    return await handler(request)
  } catch (error) {
    if (error instanceof Refusal) {
      return json({ error: { code: error.code, message: error.message } }, error.status)
    }
    // Log only the name: the message may hold request data.
    console.error(`${route} failed: ${error instanceof Error ? error.name : 'unknown'}`)
    return json({ error: { code: 'internal', message: 'Something went wrong' } }, 500)
  }
}

/**
 * @param {import('node:http').ServerResponse} response
 * @param {Record<string, string>} headers
 * @param {StreamResult} stream
 */
function startStream(response, headers, { open }) {
  // A client that left before cannot be noticed by its `close` event any more.
  if (response.destroyed) return
  response.writeHead(200, { ...headers, 'content-type': 'text/event-stream' })
  const write = (/** @type {string} */ text) => {
    response.write(text)
    if (response.writableLength > maxWaitingBytes) response.destroy()
  }
  write(': open\n\n')
  const pings = setInterval(() => write(': ping\n\n'), pingMs)
  const close = open((value) => write(`data: ${JSON.stringify(value)}\n\n`))
  response.once('close', () => {
    clearInterval(pings)
    close()
  })
}

/**
 * @param {StreamResult['open']} open
 * @returns {StreamResult}
 */
export function stream(open) {
  return { open }
}

/**
 * @param {unknown} value
 * @param {number} [status]
 * @returns {HandlerResult}
 */
export function json(value, status) {
  return { ...(status !== undefined && { status }), type: 'application/json', body: JSON.stringify(value) }
}

/**
 * Returns a handler that serves a file, read once.
 * @param {URL} file
 * @param {string} type
 * @returns {Handler}
 */
export function file(file, type) {
  const body = readFileSync(file)
  return () => ({ type, body })
}

/**
 * Returns a handler that serves a module with the name of a package replaced by a path, as bundlers do.
 * @param {URL} file
 * @param {string} name
 * @param {string} path
 * @returns {Handler}
 */
export function script(file, name, path) {
  const body = readFileSync(file, 'utf8').replace(`from '${name}'`, `from '${path}'`)
  return () => ({ type: 'text/javascript', body })
}

/**
 * Returns a handler that serves an HTML page with each `%NAME%` replaced.
 * @param {URL} file
 * @param {Record<string, string>} values values that are safe in an attribute: origins
 * @returns {Handler}
 */
export function page(file, values) {
  const body = readFileSync(file, 'utf8').replace(
    /%(\w+)%/g,
    (_, /** @type {string} */ name) => values[name] ?? '',
  )
  return () => ({ type: 'text/html; charset=utf-8', body })
}

/**
 * @param {import('node:http').IncomingMessage} request
 * @returns {Promise<unknown>}
 * @throws Refusal
 */
export async function readJson(request) {
  if (request.headers['content-type'] !== 'application/json') {
    throw new Refusal(415, 'unsupported_media_type', 'Content-Type must be application/json')
  }
  // Browsers always send a Content-Length, and Node.js enforces it.
  if (!(Number(request.headers['content-length']) <= maxBodyBytes)) {
    throw new Refusal(413, 'body_too_large', `At most ${maxBodyBytes} bytes, with a Content-Length`)
  }
  /** @type {Buffer[]} */
  const chunks = []
  for await (const chunk of /** @type {AsyncIterable<Buffer>} */ (request)) chunks.push(chunk)
  try {
    /** @type {unknown} */
    const value = JSON.parse(Buffer.concat(chunks).toString('utf8'))
    return value
  } catch {
    throw new Refusal(400, 'malformed_json', 'The body is not JSON')
  }
}

/**
 * Returns an environment variable.
 * @param {string} name
 * @returns {string}
 */
export function setting(name) {
  const value = process.env[name]
  if (value === undefined) throw new Error(`${name} must be set`)
  return value
}
