import { bodyOf } from './bodies.js'
import { idAt } from './ids.js'

/**
 * One request for all ids of a range: what differs is written over what stood there for the last.
 * @param {Pick<import('./load.js').Load, 'origin' | 'token' | 'size' | 'ids' | 'tokens'>} load
 * @param {import('./ids.js').Ids} ids
 */
export function requestTemplate({ origin, token, size, ids: all, tokens }, ids) {
  const host = new URL(origin).host
  /** @type {(start: string, type: string, body: string) => Buffer} */
  const request = (start, type, body) =>
    Buffer.from(
      `${start} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Token ${token}\r\n` +
        `Content-Type: ${type}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    )
  if (tokens !== undefined) {
    const own = tokens.slice(ids.first - all.first)
    const body = `token=${own[0]}`
    const bytes = request('POST /oauth2/introspect', 'application/x-www-form-urlencoded', body)
    const at = bytes.length - body.length + 'token='.length
    return (/** @type {number} */ index) => {
      bytes.write(own[index] ?? '', at, 'latin1')
      return bytes
    }
  }
  const bytes = request('GET /api/user', 'application/json', bodyOf(size, idAt(ids, 0)))
  const at = bytes.lastIndexOf(idAt(ids, 0)) + ids.prefix.length
  return (/** @type {number} */ index) => {
    bytes.write(String(ids.first + index), at, 'latin1')
    return bytes
  }
}
