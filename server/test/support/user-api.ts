import assert from 'node:assert/strict'
import { sendRequest, type HttpResponse } from './http.ts'

export interface UserGroupView {
  readonly team_id: number
  readonly token: string
  readonly name: string
  readonly provided_id: string
  readonly properties?: unknown
  readonly api_environment_tag?: string
}

export interface UserResponse {
  readonly success: number
  readonly new_user_group?: boolean
  readonly user_group: UserGroupView
}

export interface ErrorView {
  readonly code: string
  readonly message: string
  readonly request_id: string
  readonly fields?: readonly { readonly path: string; readonly message: string }[]
}

/** Status of each error code in the contract. */
export const statusOf = {
  malformed_request: 400,
  malformed_json: 400,
  body_required: 400,
  validation_failed: 400,
  name_required: 400,
  invalid_method_override: 400,
  invalid_idempotency_key: 400,
  invalid_position: 400,
  unauthenticated: 401,
  forbidden: 403,
  user_group_not_found: 404,
  token_not_found: 404,
  not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  token_superseded: 409,
  idempotency_key_in_use: 409,
  body_too_large: 413,
  unsupported_media_type: 415,
  idempotency_key_reused: 422,
  rate_limited: 429,
  headers_too_large: 431,
  not_implemented: 501,
  unavailable: 503,
} as const

export type ErrorCode = keyof typeof statusOf

export const errorCodes = Object.keys(statusOf) as ErrorCode[]

type Operation = (body?: unknown, headers?: Record<string, string>) => Promise<HttpResponse>

/** Returns a client of `/api/user`. A string or bytes as the body are sent unchanged. */
export function userApi(origin: string, token?: string): { get: Operation; post: Operation; put: Operation } {
  const operation =
    (method: string): Operation =>
    (body, headers = {}) =>
      sendRequest(origin, { method, token, headers, body })
  return { get: operation('GET'), post: operation('POST'), put: operation('PUT') }
}

/** Asserts the headers that every response must have, and those that none may have. */
export function assertCommonHeaders({ headers }: HttpResponse): void {
  assert.match(headers['x-request-id'] ?? '', /^[\w-]+$/)
  assert.equal(headers['cache-control'], 'no-store')
  const unwanted = Object.keys(headers).filter((name) =>
    /^access-control-|^x-powered-by$|^server$/.test(name),
  )
  assert.deepEqual(unwanted, [])
}

export function assertSuccess(response: HttpResponse): UserResponse {
  assert.equal(response.status, 200, response.text)
  assert.equal(response.headers['content-type'], 'application/json')
  assertCommonHeaders(response)
  const body = response.body as UserResponse
  assert.equal(body.success, 1)
  return body
}

/** Asserts the whole shape of an error. `paths` are those of `fields`, in any order; without paths there is no `fields`. */
export function assertFault(
  response: HttpResponse,
  code: ErrorCode,
  paths: readonly string[] = [],
): ErrorView {
  assert.deepEqual([response.status, codeIn(response)], [statusOf[code], code], response.text)
  assert.equal(response.headers['content-type'], 'application/json')
  assertCommonHeaders(response)
  assert.doesNotMatch(response.text, /ug[at]_(customer|testing)_\w|\bat .*:\d+:\d+|SQLITE|node:internal/)
  const body = response.body as { success: number; error: ErrorView }
  assert.deepEqual(Object.keys(body).sort(), ['error', 'success'])
  assert.equal(body.success, 0)
  const { error } = body
  const keys = ['code', 'message', 'request_id', ...(paths.length > 0 ? ['fields'] : [])]
  assert.deepEqual(Object.keys(error).sort(), keys.sort(), response.text)
  assert.equal(typeof error.message, 'string')
  assert.notEqual(error.message, '')
  assert.equal(error.request_id, response.headers['x-request-id'])
  const faulty = new Set(error.fields?.map(({ path }) => path))
  assert.deepEqual([...faulty].sort(), [...paths].sort(), response.text)
  for (const field of error.fields ?? []) {
    assert.deepEqual(Object.keys(field).sort(), ['message', 'path'])
    assert.equal(typeof field.message, 'string')
    assert.notEqual(field.message, '')
  }
  return error
}

function codeIn(response: HttpResponse): unknown {
  return (response.body as { error?: ErrorView }).error?.code
}

export function userGroupIn(response: HttpResponse): UserGroupView {
  return assertSuccess(response).user_group
}

export function tokenIn(response: HttpResponse): string {
  return userGroupIn(response).token
}

/** Returns the text of a response without its request id. */
export function withoutRequestId({ text, headers }: HttpResponse): string {
  return text.replaceAll(headers['x-request-id'] ?? '', '')
}
