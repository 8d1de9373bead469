import type { IncomingMessage } from 'node:http'
import { Fault } from '../domain/fault.ts'

/**
 * A request of HTTP/1.1 names its host, once (RFC 9112, section 3.2). Node's own check would answer in another shape, and
 * lets a second one pass.
 * @throws Fault `malformed_request`
 */
export function checkHost({ httpVersion, rawHeaders }: IncomingMessage): void {
  let count = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (rawHeaders[i]?.length === 4 && rawHeaders[i]?.toLowerCase() === 'host') count++
  }
  if (count > 1) throw new Fault('malformed_request', 'Host: is given more than once')
  if (count === 0 && httpVersion === '1.1') throw new Fault('malformed_request', 'Host: is required')
}
