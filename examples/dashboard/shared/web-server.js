import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'

/**
 * @typedef {object} HandlerResult
 * @property {number} [status] default: 200
 * @property {string} type
 * @property {string | Buffer} body
 */
/** @typedef {(request: import('node:http').IncomingMessage) => HandlerResult | Promise<HandlerResult>} Handler */

const maxBodyBytes = 4096

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
 * Serves the routes, such as `GET /`, until SIGINT or SIGTERM.
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
    void handle(request, routes).then(({ status = 200, type, body }) => {
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
}

/**
 * @param {import('node:http').IncomingMessage} request
 * @param {Record<string, Handler>} routes
 * @returns {Promise<HandlerResult>}
 */
async function handle(request, routes) {
  const route = `${request.method} ${request.url}`
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
