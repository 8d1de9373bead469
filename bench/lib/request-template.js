import { LRUCache } from 'lru-cache'
import { bodyOf, exampleName } from './bodies.js'
import { idAt } from './ids.js'
import { LocatorCodec } from '../../server/dist/domain/user-group/locator.js'
import { seededToken } from './tokens.js'

/**
 * A part that differs between the requests of one operation. `first` is the text to overwrite.
 * @typedef {{ first: string, next: (index: number) => string }} Difference
 */

/**
 * Returns a function that builds the request for an index by overwriting the parts that differ in one shared buffer.
 * @param {Pick<import('./load.js').Load, 'origin' | 'token' | 'size' | 'operation' | 'head' | 'locatorKey'>} load
 * @param {import('./ids.js').Ids} ids
 * @returns {(index: number) => Buffer}
 */
export function requestTemplate({ origin, token, size, operation = 'get', head, locatorKey = '' }, ids) {
  const { start, type, body, differences } = shapes[operation](size, ids, locatorKey)
  const bytes = Buffer.from(
    `${head ?? `${start} HTTP/1.1\r\nAuthorization: Token ${token}`}\r\nHost: ${new URL(origin).host}\r\n` +
      `Content-Type: ${type}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  )
  const fields = differences.map(({ first, next }) => ({ at: bytes.lastIndexOf(first), next }))
  return (index) => {
    for (const { at, next } of fields) bytes.write(next(index), at, 'latin1')
    return bytes
  }
}

/** @typedef {{ start: string, type: string, body: string, differences: Difference[] }} Shape */

/** @type {Record<import('./load.js').Operation, (size: import('./bodies.js').BodySize, ids: import('./ids.js').Ids, locatorKey: string) => Shape>} */
const shapes = {
  get: (size, ids) => ({
    start: 'GET /api/user',
    type: 'application/json',
    body: bodyOf(size, idAt(ids, 0)),
    differences: [{ first: idAt(ids, 0), next: (index) => idAt(ids, index) }],
  }),
  put: (size, ids) => {
    const shape = shapes.get(size, ids, '')
    const name = { first: exampleName, next: anyName }
    return { ...shape, start: 'PUT /api/user', differences: [...shape.differences, name] }
  },
  rotate: (_size, ids, locatorKey) => {
    const token = tokenOf(ids, locatorKey)
    return {
      start: 'POST /api/user',
      type: 'application/json',
      body: JSON.stringify({ current_token: token.first }),
      differences: [token],
    }
  },
  introspect: (_size, ids, locatorKey) => {
    const token = tokenOf(ids, locatorKey)
    return {
      start: 'POST /oauth2/introspect',
      type: 'application/x-www-form-urlencoded',
      body: `token=${token.first}`,
      differences: [token],
    }
  },
}

/**
 * Tokens by store, prefix and number: computing one costs as much as the rest of a request.
 * @type {LRUCache<string, string>}
 */
const tokens = new LRUCache({ max: 1_000_000 })

/**
 * @param {import('./ids.js').Ids} ids
 * @param {string} locatorKey
 * @returns {Difference}
 */
function tokenOf(ids, locatorKey) {
  const locators = new LocatorCodec(Buffer.from(locatorKey, 'hex'))
  const store = `${locatorKey} ${ids.prefix}`
  const next = (/** @type {number} */ index) => {
    const key = `${store} ${ids.first + index}`
    const token = tokens.get(key) ?? seededToken(locators, ids, index)
    tokens.set(key, token)
    return token
  }
  return { first: next(0), next }
}

/** Returns a random name of the same length as `exampleName`. */
function anyName() {
  return `Example ${10_000_000 + Math.floor(Math.random() * 90_000_000)}`
}
