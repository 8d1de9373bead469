import type { IncomingHttpHeaders } from 'node:http'

/**
 * Returns true if a proxy reports that its client uses HTTPS. Anybody can send this header, so it may decide only about the response to
 * the sender.
 */
export function isForwardedFromHttps(headers: IncomingHttpHeaders): boolean {
  // A chain of proxies reports a list, the scheme of the client first.
  return /^https *(?:,|$)/i.test(String(headers['x-forwarded-proto'] ?? ''))
}
