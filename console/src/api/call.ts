import { currentSession, endSession, noteActivity } from '../session/store.ts'
import { ApiError, errorOf, unreachable } from './errors.ts'

export type Query = Readonly<Record<string, string | number | boolean | undefined>>

export interface CallOptions {
  readonly query?: Query
  /** Sent as JSON; a `JsonText` as it is written. */
  readonly body?: unknown
  /** The ETag that the answer is to be changed from. */
  readonly ifMatch?: string | undefined
  readonly signal?: AbortSignal
}

export interface Answer<T> {
  readonly body: T
  readonly etag: string | undefined
}

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'

/** JSON that is sent to the letter, so that the service judges what was written and not what became of it. */
export class JsonText {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** The path of `/admin/v1`, with what is set of the query. */
export function adminPath(path: string, query: Query = {}): string {
  const set = Object.entries(query).filter(([, value]) => value !== undefined && value !== '')
  const text = new URLSearchParams(set.map(([name, value]) => [name, String(value)])).toString()
  return `/admin/v1${path}${text && `?${text}`}`
}

/** What a call that changes something must have beside the cookie. */
export function csrfHeaders(): Record<string, string> {
  const token = currentSession()?.csrf_token
  return token === undefined ? {} : { 'X-CSRF-Token': token }
}

/**
 * Calls `/admin/v1` with the session.
 * @throws ApiError; one that says that the session is over has ended it here, too
 */
export async function callAdmin<T>(
  method: Method,
  path: string,
  { query, body, ifMatch, signal }: CallOptions = {},
): Promise<Answer<T>> {
  try {
    const answer = await exchange<T>(adminPath(path, query), {
      method,
      headers: {
        ...(method !== 'GET' && csrfHeaders()),
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...(ifMatch !== undefined && { 'If-Match': ifMatch }),
      },
      ...(body !== undefined && { body: body instanceof JsonText ? body.text : JSON.stringify(body) }),
      ...(signal !== undefined && { signal }),
    })
    noteActivity()
    return answer
  } catch (error) {
    if (error instanceof ApiError) noteError(error)
    throw error
  }
}

/** Of every error of `/admin/v1`: where it says that nobody is signed in, the sign-in is shown. */
export function noteError(error: ApiError): void {
  if (error.code === 'unauthenticated') endSession('expired')
}

export const getAdmin = async <T>(
  path: string,
  options?: Omit<CallOptions, 'body' | 'ifMatch'>,
): Promise<T> => (await callAdmin<T>('GET', path, options)).body

export const postAdmin = async <T>(path: string, options?: CallOptions): Promise<T> =>
  (await callAdmin<T>('POST', path, options)).body

export const deleteAdmin = async <T>(path: string, options?: CallOptions): Promise<T> =>
  (await callAdmin<T>('DELETE', path, options)).body

/** @throws ApiError; what an abort signal says is thrown as it is */
export async function exchange<T>(url: string, init: RequestInit): Promise<Answer<T>> {
  const { response, text } = await fetched(url, init)
  if (!response.ok) throw errorOf(response.status, text)
  try {
    return { body: JSON.parse(text) as T, etag: response.headers.get('etag') ?? undefined }
  } catch {
    throw errorOf(response.status, text)
  }
}

async function fetched(url: string, init: RequestInit) {
  try {
    const response = await fetch(url, { cache: 'no-store', ...init })
    return { response, text: await response.text() }
  } catch (error) {
    if (init.signal?.aborted === true) throw error
    throw unreachable()
  }
}
