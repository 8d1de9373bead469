import { currentSession, endSession, noteActivity } from '../session/store.ts'
import { publicPath } from '../public-path.ts'
import { ApiError, errorOf, unreachable } from './errors.ts'

export type Query = Readonly<Record<string, string | number | boolean | undefined>>

export interface RequestOptions {
  readonly query?: Query
  /** JSON request body. A `JsonText` is sent as written. */
  readonly body?: unknown
  /** ETag of the state to change, for `If-Match`. */
  readonly ifMatch?: string | undefined
  readonly signal?: AbortSignal
}

export interface AdminResponse<T> {
  readonly body: T
  readonly etag: string | undefined
}

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'

/** JSON that is sent exactly as written, so that the service validates the user's text. */
export class JsonText {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** Returns the path under `/admin/v1` with the parameters that are set. */
export function adminPath(path: string, query: Query = {}): string {
  const set = Object.entries(query).filter(([, value]) => value !== undefined && value !== '')
  const text = new URLSearchParams(set.map(([name, value]) => [name, String(value)])).toString()
  return `${publicPath}/admin/v1${path}${text && `?${text}`}`
}

/** Header that selects the session among those of the browser, and that a change needs besides the cookie. */
export function csrfHeaders(): Record<string, string> {
  const token = currentSession()?.csrf_token
  return token === undefined ? {} : { 'X-CSRF-Token': token }
}

/**
 * Sends a request to `/admin/v1` with the session.
 * @throws ApiError. If the session has ended, shows the sign-in first
 */
export async function requestAdmin<T>(
  method: Method,
  path: string,
  { query, body, ifMatch, signal }: RequestOptions = {},
): Promise<AdminResponse<T>> {
  const session = currentSession()
  try {
    const result = await sendRequest<T>(adminPath(path, query), {
      method,
      headers: {
        ...csrfHeaders(),
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...(ifMatch !== undefined && { 'If-Match': ifMatch }),
      },
      ...(body !== undefined && { body: body instanceof JsonText ? body.text : JSON.stringify(body) }),
      ...(signal !== undefined && { signal }),
    })
    noteActivity()
    return result
  } catch (error) {
    // The request may belong to the environment from which somebody has switched away.
    if (error instanceof ApiError && session === currentSession()) noteError(error)
    throw error
  }
}

/** Shows the sign-in if an error of `/admin/v1` means that the session has ended. */
export function noteError(error: ApiError): void {
  if (error.code === 'unauthenticated') endSession('expired')
}

export const getAdmin = async <T>(
  path: string,
  options?: Omit<RequestOptions, 'body' | 'ifMatch'>,
): Promise<T> => (await requestAdmin<T>('GET', path, options)).body

export const postAdmin = async <T>(path: string, options?: RequestOptions): Promise<T> =>
  (await requestAdmin<T>('POST', path, options)).body

export const deleteAdmin = async <T>(path: string, options?: RequestOptions): Promise<T> =>
  (await requestAdmin<T>('DELETE', path, options)).body

/** @throws ApiError; rethrows the reason of an abort signal */
export async function sendRequest<T>(url: string, init: RequestInit): Promise<AdminResponse<T>> {
  const { response, text } = await fetchText(url, init)
  if (!response.ok) throw errorOf(response.status, text)
  try {
    return { body: JSON.parse(text) as T, etag: response.headers.get('etag') ?? undefined }
  } catch {
    throw errorOf(response.status, text)
  }
}

async function fetchText(url: string, init: RequestInit) {
  try {
    const response = await fetch(url, { cache: 'no-store', ...init })
    return { response, text: await response.text() }
  } catch (error) {
    if (init.signal?.aborted === true) throw error
    throw unreachable()
  }
}
