import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { FastifyReply } from 'fastify'

/** Placeholder in a built page for the nonce of each response. */
const noncePlaceholder = 'CSP_NONCE'

/**
 * Reads a page of the console's build, and returns a function that sends it.
 * @param file path of its HTML
 * @param assets URL path of the files that it loads, with a slash at the end
 */
export async function readBuiltPage(
  file: string,
  assets: string,
): Promise<(reply: FastifyReply) => FastifyReply> {
  const built = await readFile(file, 'utf8')
  // The page is served at many paths, to which its links would be relative.
  const page = built.replaceAll('"./assets/', `"${assets}`)
  return (reply) => {
    const nonce = randomBytes(16).toString('base64')
    return reply
      .headers({
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': contentSecurityPolicy(nonce),
      })
      .send(page.replaceAll(noncePlaceholder, nonce))
  }
}

/** Allows only what the service itself serves. A component library adds styles by script, which need the nonce. */
function contentSecurityPolicy(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}
