import assert from 'node:assert/strict'
import type { AdminOperationId } from '../../src/http/admin/operations.ts'
import { adminPath, operationOf, type AdminInput } from './admin-api.ts'
import { sendRequest, type HttpResponse } from './http.ts'

export const sessionPath = '/console/session'

/** A session of the console in a browser. */
export interface SignedIn {
  readonly response: HttpResponse
  /** The cookie as `name=value`. */
  readonly cookie: string
  readonly csrfToken: string
  readonly session: SessionView
}

interface SessionView {
  readonly workspace: { readonly id: number; readonly name: string }
  readonly api_environment_tag: string
  readonly api_token: { readonly id: number; readonly name: string }
  readonly role: string
  readonly idle_seconds: number
  readonly expires_at: string
  readonly csrf_token: string
}

export function signingIn(
  origin: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<HttpResponse> {
  return sendRequest(origin, { method: 'POST', path: sessionPath, body, headers })
}

export async function signIn(
  origin: string,
  apiToken: string,
  headers?: Record<string, string>,
): Promise<SignedIn> {
  return signedIn(await signingIn(origin, { api_token: apiToken }, headers))
}

/** Uses a sign-in link. */
export function useLink(
  origin: string,
  link: string,
  {
    confirmed,
    headers = {},
  }: { readonly confirmed?: unknown; readonly headers?: Record<string, string> } = {},
): Promise<HttpResponse> {
  const secret = new URL(link).hash.replace('#sign-in=', '')
  const body = { secret, ...(confirmed !== undefined && { confirmed }) }
  return sendRequest(origin, { method: 'POST', path: `${sessionPath}/link`, headers, body })
}

/** Returns the session that a successful sign-in started. */
export function signedIn(response: HttpResponse): SignedIn {
  assert.equal(response.status, 200, response.text)
  const { session } = response.body as { session: SessionView }
  // Node.js returns this header as a list.
  const [setCookie = ''] = [response.headers['set-cookie']].flat()
  const cookie = /^(?:__Host-)?ugs_session_(customer|testing)=[\w-]{43}(?=;)/.exec(setCookie)?.[0]
  assert.ok(cookie !== undefined, setCookie)
  return { response, cookie, csrfToken: session.csrf_token, session }
}

/** Returns the secret of a session. */
export const secretOf = ({ cookie }: Pick<SignedIn, 'cookie'>) => cookie.split('=')[1] as string

/** Headers of a request that changes something. */
export const signed = ({ cookie, csrfToken }: Pick<SignedIn, 'cookie' | 'csrfToken'>) => ({
  cookie,
  'x-csrf-token': csrfToken,
})

/** Calls an operation of `/admin/v1` with these headers and without an API token. */
export function callOperation(
  origin: string,
  id: AdminOperationId,
  { headers, ...input }: AdminInput & { readonly headers: Readonly<Record<string, string>> },
): Promise<HttpResponse> {
  const { method, takesRows } = operationOf(id)
  return sendRequest(origin, {
    ...{ method, path: adminPath(id, input) },
    headers: { ...(takesRows && { 'content-type': 'application/x-ndjson' }), ...headers },
    ...(input.body !== undefined && { body: input.body }),
  })
}
